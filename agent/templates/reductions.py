"""How reductions, and operations made of them, become expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from agent.templates.arguments import argument, literal
from agent.templates.expr import Unmatched
from agent.templates.lowering import Lowering, Reduction, Value
from evaluator.problem.graph import Argument, Node

Lower = Callable[[Lowering, Node], None]


def _variance(over: Reduction, mean: int, correction: float) -> int:
    t = over.table
    centred = t.op("sub", over.number, mean)
    total = over.of("sum", t.op("mul", centred, centred))
    return t.op("div", total, t.op("sub", over.count(), t.const(correction)))


def _inverse_deviation(over: Reduction, variance: int, epsilon: Argument) -> int:
    t = over.table
    return t.op("div", t.const(1.0), t.op("sqrt", t.op("add", variance, t.const(literal(epsilon)))))


def _simple(build: Callable[[Reduction, int], int], item: int | None = None) -> Lower:
    def lower(low: Lowering, node: Node) -> None:
        over = low.reduction(node.args[0], argument(node, 1, "dim"))
        keep = bool(argument(node, 2, "keepdim", False))
        low.put(node, item, over, keep, build(over, over.number))

    return lower


def _of(name: str, item: int | None = None) -> Lower:
    return _simple(lambda over, x: over.of(name, x), item)


def _extreme(name: str) -> Lower:
    """max.dim and min.dim: the value and where it is."""

    def lower(low: Lowering, node: Node) -> None:
        _of(name, 0)(low, node)
        _of("arg" + name, 1)(low, node)

    return lower


def _var(low: Lowering, node: Node) -> None:
    over = low.reduction(node.args[0], argument(node, 1, "dim"))
    correction, keep = node.kwargs.get("correction"), bool(node.kwargs.get("keepdim", False))
    mean = over.mean(over.number)
    variance = _variance(over, mean, 1.0 if correction is None else literal(correction))
    both = node.op.startswith("aten.var_mean")
    low.put(node, 0 if both else None, over, keep, variance)
    if both:
        low.put(node, 1, over, keep, mean)


def _softmax(low: Lowering, node: Node) -> None:
    over = low.reduction(node.args[0], node.args[1])
    t = low.table
    shifted = t.op("sub", over.number, over.of("max_number", over.number))
    power = t.op("exp", shifted)
    total = over.of("sum", power)
    log = node.op.startswith("aten._log")
    result = t.op("sub", shifted, t.op("log", total)) if log else t.op("div", power, total)
    low.values[node.id, None] = replace(over.value, number=result)


def _normalised(low: Lowering, node: Node, over: Reduction, epsilon: Argument) -> tuple[int, int, int]:
    """A value less its mean over its deviation; the mean; the inverse of the deviation."""
    t = low.table
    mean = over.mean(over.number)
    scale = _inverse_deviation(over, _variance(over, mean, 0.0), epsilon)
    return t.op("mul", t.op("sub", over.number, mean), scale), mean, scale


def _layer_norm(low: Lowering, node: Node) -> None:
    normalized = node.args[1]
    assert isinstance(normalized, tuple)
    rank = len(low.value(node.args[0]).shape)
    over = low.reduction(node.args[0], tuple(range(rank - len(normalized), rank)))
    result, mean, scale = _normalised(low, node, over, node.args[4])
    for name, extra in (("mul", node.args[2]), ("add", node.args[3])):
        if extra is not None:
            result = low.table.op(name, result, low.operand(extra, over.value.dims, over.value.shape))
    low.values[node.id, 0] = replace(over.value, number=result)
    low.put(node, 1, over, True, mean)
    low.put(node, 2, over, True, scale)


def _per_channel(
    low: Lowering, node: Node, value: Value, result: int, weight: Argument, bias: Argument
) -> None:
    for name, extra in (("mul", weight), ("add", bias)):
        if extra is not None:
            result = low.table.op(name, result, low.along(extra, value.dims[1]))
    low.values[node.id, 0] = replace(value, number=result)


def _group_norm(low: Lowering, node: Node) -> None:
    value = low.placed(low.value(node.args[0]))
    if len(value.dims) < 2 or len(value.dims[1]) != 2:
        raise Unmatched("a normalisation over groups of something other than the space's channels")
    low.reduce_over((value.dims[1][1], *(a for dim in value.dims[2:] for a in dim)))
    over = Reduction(low.table, value, (), False)
    result, _, _ = _normalised(low, node, over, node.args[7])
    _per_channel(low, node, value, result, node.args[1], node.args[2])


def _batch_norm(low: Lowering, node: Node) -> None:
    """By stored statistics, or by those of each channel where it is adjacent (as in instance normalisation)."""
    x, weight, bias, mean, variance, training, _, epsilon = node.args
    value = low.placed(low.value(x))
    t = low.table
    if training:
        if mean is not None or variance is not None:
            raise Unmatched("running statistics that are updated")
        over = low.reduction(x, tuple(d for d in range(len(value.shape)) if d != 1))
        result, _, _ = _normalised(low, node, over, epsilon)
    else:
        over = Reduction(t, value, (), False)
        scale = _inverse_deviation(over, low.along(variance, value.dims[1]), epsilon)
        result = t.op("mul", t.op("sub", over.number, low.along(mean, value.dims[1])), scale)
    _per_channel(low, node, value, result, weight, bias)


def _vector_norm(low: Lowering, node: Node) -> None:
    order = literal(argument(node, 1, "ord", 2))
    over = low.reduction(node.args[0], argument(node, 2, "dim"))
    t, x = low.table, over.number
    if order == 2:
        number = t.op("sqrt", over.of("sum", t.op("mul", x, x)))
    elif order == 1:
        number = over.of("sum", t.op("magnitude", x))
    elif math.isinf(order):
        number = over.of("max" if order > 0 else "min", t.op("magnitude", x))
    else:
        raise Unmatched(f"a norm of order {order:g}")
    low.put(node, None, over, bool(argument(node, 3, "keepdim", False)), number)


def _gather(low: Lowering, node: Node) -> None:
    """One element per row, by an index of size 1 along the reduced axes."""
    value = low.placed(low.value(node.args[0]))
    place = int(literal(node.args[1])) % len(value.shape)
    low.reduce_over(value.dims[place])
    index = low.placed(low.value(node.args[2]))
    if index.shape[place] != 1 or len(value.dims[place]) != 1:
        raise Unmatched("several indices per row")
    for p, (own, of) in enumerate(zip(index.dims, value.dims, strict=True)):
        if p != place and own not in ((), of):
            raise Unmatched("indices of another order")
    number = low.table.pick(low.number(value), low.number(index), low.is_wide)
    dims = tuple(() if p == place else d for p, d in enumerate(value.dims))
    shape = tuple(1 if p == place else n for p, n in enumerate(value.shape))
    low.values[node.id, None] = Value(shape, dims, number)


def _scan(name: str) -> Lower:
    def lower(low: Lowering, node: Node) -> None:
        value = low.placed(low.value(node.args[0]))
        place = int(literal(node.args[1])) % len(value.shape)
        if len(value.dims[place]) != 1:
            raise Unmatched("a scan over several axes or none")
        (axis,) = value.dims[place]
        reverse = axis in value.flipped
        if low.scanned not in (None, axis) or (low.scanned is not None and low.reverse != reverse):
            raise Unmatched("scans along different axes or ways")
        low.scanned, low.reverse = axis, reverse
        low.values[node.id, None] = replace(value, number=low.table.scan(name, low.number(value)))

    return lower


REDUCTIONS: Mapping[str, Lower] = {
    **{f"aten.sum.{kind}": _of("sum") for kind in ("dim_IntList", "default")},
    **{f"aten.mean.{kind}": _simple(Reduction.mean) for kind in ("dim", "default")},
    **{f"aten.prod.{kind}": _of("prod") for kind in ("dim_int", "default")},
    "aten.amax.default": _of("max"),
    "aten.amin.default": _of("min"),
    "aten.max.dim": _extreme("max"),
    "aten.min.dim": _extreme("min"),
    "aten.max.default": _of("max"),
    "aten.min.default": _of("min"),
    "aten.argmax.default": _of("argmax"),
    "aten.argmin.default": _of("argmin"),
    "aten.var.correction": _var,
    "aten.var_mean.correction": _var,
    "aten._softmax.default": _softmax,
    "aten._log_softmax.default": _softmax,
    "aten.native_layer_norm.default": _layer_norm,
    "aten.native_group_norm.default": _group_norm,
    "aten.native_batch_norm.default": _batch_norm,
    "aten.linalg_vector_norm.default": _vector_norm,
    "aten.gather.default": _gather,
    "aten.cumsum.default": _scan("cumsum"),
    "aten.cumprod.default": _scan("cumprod"),
}
