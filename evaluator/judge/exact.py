"""Where arithmetic on small integers has one right answer, bit for bit, in whatever order it is done.

Sums, products and choices of integers are integers, and exact as long as none of them needs more digits than its dtype
has. Whether that holds is decided on the traced graph, by how large any sum of absolute values can become. Not taken:
divisions, and convolutions, for which honest implementations use transforms with fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch

from evaluator.harness.tensors import DTYPES
from evaluator.judge.numerics import OwnError, Truth, Yardstick
from evaluator.judge.oracle import Round
from evaluator.problem.graph import Argument, Graph, Node, Ref, Value

SIZES = (8, 4, 2, 1)
MARGIN_BITS = 3
"""Left for algorithms whose intermediate results are larger than the sums of absolute values, as Strassen's."""
_DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8, "int64": 63, "int32": 31, "int16": 15}


class Inexact(Exception):
    """The graph does something whose result on integers is not one exact integer."""


def integer_size(graph: Graph) -> int | None:
    """The largest size of integers in the inputs for which everything is exact; None where nothing is.

    Graphs with weights, which are not integers, have none.
    """
    if any(_used(graph, p) for p in graph.parameters):
        return None
    for size in SIZES:
        try:
            if _fits(graph, size):
                return size
        except Inexact:
            return None
    return None


def exactly(round_: Round, size: int) -> Round | None:
    """The round with its outputs to be equalled bit by bit; None where values are not what `integer_size` assumed."""
    floats = [v for v in round_.inputs if isinstance(v, torch.Tensor) and v.is_floating_point()]
    if not all(bool((v == v.round()).all()) and bool((v.abs() <= size).all()) for v in floats):
        return None
    truths = [_exact(t, own) for t, own in zip(round_.truths, round_.own, strict=True)]
    return (
        replace(round_, truths=tuple(truths)) if any(t.yardstick is Yardstick.EXACT for t in truths) else None
    )


def _exact(truth: Truth, own: OwnError) -> Truth:
    """A float output that the reference itself has exactly, as one to be equalled."""
    if (
        truth.yardstick is not Yardstick.FLOAT64
        or own.largest
        or bool((truth.values != truth.values.round()).any())
    ):
        return truth
    return replace(truth, yardstick=Yardstick.EXACT, values=truth.values.to(DTYPES[truth.spec.dtype]))


def _used(graph: Graph, value: Value) -> bool:
    taken = [r for n in graph.nodes for r in _refs((*n.args, *n.kwargs.values()))]
    return any(r.id == value.id for r in (*taken, *graph.outputs))


def _refs(argument: Argument) -> list[Ref]:
    if isinstance(argument, tuple):
        return [r for a in argument for r in _refs(a)]
    return [argument] if isinstance(argument, Ref) else []


def _fits(graph: Graph, size: int) -> bool:
    """Whether no result can need more digits than it has. Raises Inexact."""
    sizes = _Sizes(graph, size)
    for node in graph.nodes:
        rule = _RULES.get(node.op)
        if rule is None:
            raise Inexact
        largest = rule(node, sizes)
        if largest > _capacity(node.dtypes[0]):
            return False
        sizes.keep(node, largest)
    return True


def _capacity(dtype: str) -> float:
    """The largest integer that a result may be."""
    return 1.0 if dtype == "bool" else 2.0 ** (_DIGITS.get(dtype, 7) - MARGIN_BITS)


class _Sizes:
    """How large values can be, and their shapes."""

    def __init__(self, graph: Graph, size: int) -> None:
        self._shapes = {v.id: v.shape for v in graph.inputs}
        self._largest = {v.id: _input_size(v, size) for v in graph.inputs}

    def keep(self, node: Node, largest: float) -> None:
        """Take note of a node's result."""
        self._shapes[node.id] = node.shapes[0]
        self._largest[node.id] = largest

    def of(self, argument: Argument) -> float:
        """The size of a value or number; of several, the largest. Raises Inexact for a number that is no integer."""
        if isinstance(argument, Ref):
            return self._largest[argument.id]
        if isinstance(argument, tuple):
            return max(map(self.of, argument), default=0.0)
        if argument is None:
            return 0.0
        if isinstance(argument, (bool, int, float)) and float(argument).is_integer():
            return abs(float(argument))
        raise Inexact

    def shape(self, argument: Argument) -> tuple[int, ...]:
        """The shape of a value."""
        return self._shapes[argument.id] if isinstance(argument, Ref) else ()


def _input_size(value: Value, size: int) -> float:
    """Integers in integer inputs can be of any size; what takes them as indices does not ask."""
    if value.dtype == "bool":
        return 1.0
    return float(size) if "float" in value.dtype else math.inf


def _argument(node: Node, place: int, name: str, default: Argument) -> Argument:
    return node.args[place] if place < len(node.args) else node.kwargs.get(name, default)


def _same(node: Node, sizes: _Sizes) -> float:
    return sizes.of(node.args[0])


def _largest(node: Node, sizes: _Sizes) -> float:
    return max(sizes.of(a) for a in node.args)


def _chosen(node: Node, sizes: _Sizes) -> float:
    return max(sizes.of(a) for a in node.args[1:])


def _padded(node: Node, sizes: _Sizes) -> float:
    return max(sizes.of(node.args[0]), sizes.of(_argument(node, 2, "value", 0)))


def _bit(node: Node, sizes: _Sizes) -> float:
    return 1.0


def _add(node: Node, sizes: _Sizes) -> float:
    return sizes.of(node.args[0]) + sizes.of(node.args[1]) * sizes.of(_argument(node, 2, "alpha", 1))


def _multiply(node: Node, sizes: _Sizes) -> float:
    return sizes.of(node.args[0]) * sizes.of(node.args[1])


def _sum(node: Node, sizes: _Sizes) -> float:
    count = math.prod(sizes.shape(node.args[0])) / max(1, math.prod(node.shapes[0]))
    return sizes.of(node.args[0]) * count


def _running_sum(node: Node, sizes: _Sizes) -> float:
    shape, dim = sizes.shape(node.args[0]), node.args[1]
    return sizes.of(node.args[0]) * (shape[dim] if shape and isinstance(dim, int) else 1)


def _product(node: Node, sizes: _Sizes) -> float:
    return sizes.of(node.args[0]) * sizes.of(node.args[1]) * sizes.shape(node.args[0])[-1]


def _added_product(node: Node, sizes: _Sizes) -> float:
    added, left, right = node.args[:3]
    product = (
        sizes.of(left) * sizes.of(right) * sizes.shape(left)[-1] * sizes.of(_argument(node, 4, "alpha", 1))
    )
    return sizes.of(added) * sizes.of(_argument(node, 3, "beta", 1)) + product


def _named(names: str, kinds: str = "default") -> list[str]:
    return [f"aten.{name}.{kind}" for name in names.split() for kind in kinds.split()]


_RULES: Mapping[str, Callable[[Node, _Sizes], float]] = {
    **dict.fromkeys(_named("neg abs relu view _unsafe_view permute expand t flip roll tril triu"), _same),
    **dict.fromkeys(_named("amax amin max min unsqueeze diagonal cat repeat index_select _to_copy"), _same),
    **dict.fromkeys(["aten.scalar_tensor.default", "aten.max.dim", "aten.min.dim"], _same),
    **dict.fromkeys(_named("squeeze", "dim dims default") + _named("transpose select", "int"), _same),
    **dict.fromkeys(_named("slice index", "Tensor"), _same),
    **dict.fromkeys(_named("maximum minimum clamp clamp_min clamp_max"), _largest),
    **dict.fromkeys(["aten.where.self", "aten.full.default"], _chosen),
    "aten.arange.start_step": _largest,
    "aten.constant_pad_nd.default": _padded,
    **dict.fromkeys(_named("gt ge lt le eq ne", "Tensor Scalar"), _bit),
    **dict.fromkeys(_named("logical_and logical_or logical_not logical_xor"), _bit),
    **dict.fromkeys(_named("add sub", "Tensor Scalar"), _add),
    **dict.fromkeys(_named("mul", "Tensor Scalar"), _multiply),
    **dict.fromkeys(_named("sum", "dim_IntList default"), _sum),
    **dict.fromkeys(_named("mm bmm"), _product),
    "aten.cumsum.default": _running_sum,
    "aten.addmm.default": _added_product,
}
