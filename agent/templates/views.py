"""How views change where a value lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from agent.templates.arguments import argument, literal, numbers
from agent.templates.expr import Unmatched
from agent.templates.lowering import Lowering, Value
from agent.templates.space import regrouped
from evaluator.problem.graph import Node

FAR = 1 << 62
"""A slice that ends here or later ends where the dimension does."""


def _reshaped(low: Lowering, node: Node) -> Value:
    """Another shape: dimensions of size 1 come and go, neighbours are joined or taken apart."""
    value, shape = low.value(node.args[0]), node.shapes[0]
    kept = [(n, d) for n, d in zip(value.shape, value.dims, strict=True) if n != 1]
    if [n for n, _ in kept] == [n for n in shape if n != 1]:
        if len(value.shape) == len(shape):
            return value
        rest = iter(kept)
        return replace(value, shape=shape, dims=tuple(next(rest)[1] if n != 1 else () for n in shape))
    value = low.placed(value)
    if any(not d and n != 1 for n, d in zip(value.shape, value.dims, strict=True)):
        raise Unmatched("a view of an expanded value")
    return replace(value, shape=shape, dims=regrouped(value.dims, shape, low.space))


def _expanded(low: Lowering, node: Node) -> Value:
    value, shape = low.value(node.args[0]), node.shapes[0]
    if value.number is None:
        value = low.placed(value) if len(value.shape) == len(shape) else value
    if value.number is None:
        raise Unmatched("an expanded input")
    return replace(value, shape=shape, dims=((),) * (len(shape) - len(value.dims)) + value.dims)


def _permuted(low: Lowering, node: Node) -> Value:
    value = low.value(node.args[0])
    order = [d % len(value.shape) for d in numbers(node.args[1])]
    return replace(value, shape=node.shapes[0], dims=tuple(value.dims[d] for d in order))


def _transposed(low: Lowering, node: Node) -> Value:
    value = low.value(node.args[0])
    order = list(range(len(value.shape)))
    if order:
        one, other = (int(literal(a)) % len(order) for a in node.args[1:3] or (0, -1))
        order[one], order[other] = order[other], order[one]
    return replace(value, shape=node.shapes[0], dims=tuple(value.dims[d] for d in order))


def _repeated(low: Lowering, node: Node) -> Value:
    """A weight per channel once for each element of a batch, as instance normalisation has it."""
    value = low.value(node.args[0])
    times = numbers(node.args[1])
    if len(value.shape) != 1 or len(times) != 1 or value.number is not None:
        raise Unmatched("a repeated value")
    return replace(value, shape=node.shapes[0], repeats=times[0]) if times[0] != 1 else value


def _flipped(low: Lowering, node: Node) -> Value:
    value = low.placed(low.value(node.args[0]))
    axes = {a for d in numbers(node.args[1]) for a in value.dims[d]}
    return replace(value, flipped=value.flipped ^ axes)


def _sliced(low: Lowering, node: Node) -> Value:
    """A window of an input, which leaves out a constant number of elements at both ends of a dimension."""
    value = low.value(node.args[0])
    place = int(literal(argument(node, 1, "dim", 0))) % len(value.shape)
    start, end = argument(node, 2, "start"), argument(node, 3, "end")
    if literal(argument(node, 4, "step", 1)) != 1:
        raise Unmatched("a slice with a step")
    first = 0 if start is None else int(literal(start))
    last = (
        0 if end is None or literal(end) >= FAR else int(literal(end))
    )  # counted from the end; 0 is the end
    if first == 0 and last == 0:
        return value
    if value.number is not None or first < 0 or last > 0 or not value.dims[place]:
        raise Unmatched("a slice of something computed, or to a fixed place")
    rank = len(low.sources[value.source].shape)
    cut = list(value.cut or ((0, 0),) * rank)
    (own,) = value.dims[place]
    before, in_all = cut[own]
    cut[own] = before + first, in_all + first - last
    return replace(value, shape=node.shapes[0], cut=tuple(cut))


VIEWS: Mapping[str, Callable[[Lowering, Node], Value]] = {
    **{f"aten.{name}": _reshaped for name in ("view.default", "reshape.default", "_unsafe_view.default")},
    **{
        f"aten.{name}": _reshaped
        for name in ("unsqueeze.default", "squeeze.dim", "squeeze.dims", "squeeze.default")
    },
    "aten.expand.default": _expanded,
    "aten.permute.default": _permuted,
    "aten.transpose.int": _transposed,
    "aten.t.default": _transposed,
    "aten.repeat.default": _repeated,
    "aten.flip.default": _flipped,
    "aten.slice.Tensor": _sliced,
}
