"""How each elementwise core ATen operation is made of a few basic ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from agent.templates.arguments import argument, literal
from agent.templates.expr import Table, Unmatched
from evaluator.problem.graph import Argument, Node

Operands = Callable[[Argument], int]
Builder = Callable[[Table, Node, Operands], int]


def _number(node: Node, place: int, name: str, default: float) -> float:
    return literal(argument(node, place, name, default))


def _simple(name: str, arity: int) -> Builder:
    def build(t: Table, node: Node, of: Operands) -> int:
        return t.op(name, *(of(node.args[i]) for i in range(arity)))

    return build


def _scaled(name: str) -> Builder:
    """add and sub, whose second operand may be multiplied by alpha."""

    def build(t: Table, node: Node, of: Operands) -> int:
        alpha = t.const(_number(node, 2, "alpha", 1.0))
        return t.op(name, of(node.args[0]), t.op("mul", of(node.args[1]), alpha))

    return build


def _rsub(t: Table, node: Node, of: Operands) -> int:
    alpha = t.const(_number(node, 2, "alpha", 1.0))
    return t.op("sub", of(node.args[1]), t.op("mul", of(node.args[0]), alpha))


def _plain_div(t: Table, node: Node, of: Operands) -> int:
    if node.kwargs.get("rounding_mode") is not None:
        raise Unmatched("a rounding division")
    return t.op("div", of(node.args[0]), of(node.args[1]))


def _pow(t: Table, node: Node, of: Operands) -> int:
    base, exponent = of(node.args[0]), literal(node.args[1])
    if exponent in (0.5, -0.5):
        root = t.op("sqrt", base)
        return root if exponent > 0 else t.op("div", t.const(1.0), root)
    if not exponent.is_integer() or not 1 <= abs(exponent) <= 8:
        raise Unmatched(f"a power of {exponent:g}")
    result = _power(t, base, int(abs(exponent)))
    return result if exponent > 0 else t.op("div", t.const(1.0), result)


def _power(t: Table, base: int, exponent: int) -> int:
    if exponent == 1:
        return base
    half = _power(t, base, exponent // 2)
    square = t.op("mul", half, half)
    return t.op("mul", square, base) if exponent % 2 else square


def _gelu(t: Table, node: Node, of: Operands) -> int:
    x = of(node.args[0])
    if argument(node, 1, "approximate", "none") == "none":
        return t.op("mul", x, t.op("normal_cdf", x))
    cube = t.op("mul", t.op("mul", t.op("mul", x, x), x), t.const(0.044715))
    inner = t.op("tanh", t.op("mul", t.op("add", x, cube), t.const(math.sqrt(2 / math.pi))))
    return t.op("mul", t.op("mul", x, t.const(0.5)), t.op("add", inner, t.const(1.0)))


def _relu(t: Table, node: Node, of: Operands) -> int:
    return t.op("at_least", of(node.args[0]), t.const(0.0))


def _clamp(t: Table, node: Node, of: Operands) -> int:
    x = of(node.args[0])
    low, high = argument(node, 1, "min"), argument(node, 2, "max")
    if low is not None:
        x = t.op("at_least", x, of(low))
    return x if high is None else t.op("at_most", x, of(high))


def _hardtanh(t: Table, node: Node, of: Operands) -> int:
    low, high = _number(node, 1, "min_val", -1.0), _number(node, 2, "max_val", 1.0)
    return t.op("at_most", t.op("at_least", of(node.args[0]), t.const(low)), t.const(high))


def _leaky_relu(t: Table, node: Node, of: Operands) -> int:
    x = of(node.args[0])
    slope = t.const(_number(node, 1, "negative_slope", 0.01))
    return t.op("select", t.op("gt", x, t.const(0.0)), x, t.op("mul", x, slope))


def _elu(t: Table, node: Node, of: Operands) -> int:
    x = of(node.args[0])
    alpha, scale, input_scale = (
        t.const(_number(node, i, name, 1.0)) for i, name in enumerate(("alpha", "scale", "input_scale"), 1)
    )
    below = t.op("mul", t.op("expm1", t.op("mul", x, input_scale)), t.op("mul", alpha, scale))
    return t.op("select", t.op("gt", x, t.const(0.0)), t.op("mul", x, scale), below)


def _sign(t: Table, node: Node, of: Operands) -> int:
    x, zero = of(node.args[0]), t.const(0.0)
    below = t.op("select", t.op("lt", x, zero), t.const(-1.0), zero)
    return t.op("select", t.op("gt", x, zero), t.const(1.0), below)


def _rsqrt(t: Table, node: Node, of: Operands) -> int:
    return t.op("div", t.const(1.0), t.op("sqrt", of(node.args[0])))


def _reciprocal(t: Table, node: Node, of: Operands) -> int:
    return t.op("div", t.const(1.0), of(node.args[0]))


def _isnan(t: Table, node: Node, of: Operands) -> int:
    x = of(node.args[0])
    return t.op("ne", x, x)


def _to_float(t: Table, node: Node, of: Operands) -> int:
    if node.dtypes != ("float32",):
        raise Unmatched(f"a conversion to {node.dtypes}")
    return t.number(of(node.args[0]))


def _full(t: Table, node: Node, of: Operands) -> int:
    return t.const(literal(node.args[0 if node.op.startswith("aten.scalar_tensor") else 1]))


def _where(t: Table, node: Node, of: Operands) -> int:
    mask = of(node.args[0])
    if not t.is_mask(mask):
        raise Unmatched("a choice by something other than a comparison")
    return t.op("select", mask, of(node.args[1]), of(node.args[2]))


_COMPARISONS = ("gt", "ge", "lt", "le", "eq", "ne")

ELEMENTWISE: Mapping[str, Builder] = {
    **{
        f"aten.{op}.default": _simple(name, 1)
        for op, name in {
            "exp": "exp",
            "expm1": "expm1",
            "log": "log",
            "log1p": "log1p",
            "tanh": "tanh",
            "erf": "erf",
            "sigmoid": "sigmoid",
            "sqrt": "sqrt",
            "abs": "magnitude",
            "neg": "neg",
            "logical_not": "not",
            "bitwise_not": "not",
        }.items()
    },
    **{f"aten.{name}.{kind}": _simple(name, 2) for name in _COMPARISONS for kind in ("Scalar", "Tensor")},
    **{f"aten.{name}.{kind}": _scaled(name) for name in ("add", "sub") for kind in ("Tensor", "Scalar")},
    **{f"aten.mul.{kind}": _simple("mul", 2) for kind in ("Tensor", "Scalar")},
    **{f"aten.div.{kind}": _plain_div for kind in ("Tensor", "Scalar", "Tensor_mode")},
    **{f"aten.clamp.{kind}": _clamp for kind in ("default", "Tensor")},
    "aten.rsub.Scalar": _rsub,
    "aten.clamp_min.default": _simple("at_least", 2),
    "aten.clamp_min.Tensor": _simple("at_least", 2),
    "aten.clamp_max.default": _simple("at_most", 2),
    "aten.clamp_max.Tensor": _simple("at_most", 2),
    "aten.maximum.default": _simple("larger", 2),
    "aten.minimum.default": _simple("smaller", 2),
    "aten.logical_and.default": _simple("and", 2),
    "aten.logical_or.default": _simple("or", 2),
    "aten.bitwise_and.Tensor": _simple("and", 2),
    "aten.bitwise_or.Tensor": _simple("or", 2),
    "aten.pow.Tensor_Scalar": _pow,
    "aten.gelu.default": _gelu,
    "aten.relu.default": _relu,
    "aten.hardtanh.default": _hardtanh,
    "aten.leaky_relu.default": _leaky_relu,
    "aten.elu.default": _elu,
    "aten.sign.default": _sign,
    "aten.rsqrt.default": _rsqrt,
    "aten.reciprocal.default": _reciprocal,
    "aten.isnan.default": _isnan,
    "aten.where.self": _where,
    "aten._to_copy.default": _to_float,
    "aten.full.default": _full,
    "aten.full_like.default": _full,
    "aten.scalar_tensor.default": _full,
}
