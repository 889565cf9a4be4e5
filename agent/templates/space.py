"""The iteration space of a graph: the axes of its largest tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agent.templates.arguments import literal, references
from agent.templates.expr import Dims, Unmatched
from evaluator.problem.graph import Graph

GROUPS = "aten.native_group_norm.default"


@dataclass(frozen=True)
class Space:
    """`shape`: that of the largest tensor; `dims`: the axes of each of its dimensions; `sizes`: of each axis at the
    traced workload; `fixed`: for each axis its size where the operation itself sets it (the number of groups), else
    None."""

    shape: tuple[int, ...]
    dims: Dims
    sizes: tuple[int, ...]
    fixed: tuple[int | None, ...]

    def size(self, axes: tuple[int, ...]) -> int:
        """How many places axes have together."""
        return math.prod(self.sizes[a] for a in axes)


def spaces(graph: Graph) -> list[Space]:
    """The spaces that a graph may live in, the likelier first: the largest shape in it, as it is met first and
    last, and the shape of what is computed last. A normalisation over groups of channels splits their axis in two."""
    used = {r.id for n in graph.nodes for r in references((*n.args, *n.kwargs.values()))}
    used |= {r.id for r in graph.outputs}
    shapes = [v.shape for v in graph.inputs if v.id in used] + [s for n in graph.nodes for s in n.shapes]
    size = max(map(math.prod, shapes), default=1)
    largest = [s for s in shapes if math.prod(s) == size] or [()]
    groups = _groups(graph)
    return [_space(shape, groups) for shape in dict.fromkeys((largest[0], largest[-1], (shapes or [()])[-1]))]


def _groups(graph: Graph) -> int | None:
    """Into how many groups channels are split, or None. Raises Unmatched where that differs."""
    found = {int(literal(node.args[6])) for node in graph.nodes if node.op == GROUPS}
    if len(found) > 1:
        raise Unmatched("channels in groups of different sizes")
    return next(iter(found), None)


def _space(shape: tuple[int, ...], groups: int | None) -> Space:
    rank = len(shape)
    if groups is None:
        return Space(shape, tuple((d,) for d in range(rank)), shape, (None,) * rank)
    if rank < 2 or shape[1] % groups:
        raise Unmatched("groups that channels cannot be split into")
    dims = ((0,), (1, 2), *((d + 1,) for d in range(2, rank)))
    sizes = (shape[0], groups, shape[1] // groups, *shape[2:])
    return Space(shape, dims, sizes, (None, groups, *(None,) * (rank - 1)))


def regrouped(dims: Dims, shape: tuple[int, ...], space: Space) -> Dims:
    """The dimensions of a value of these dims once it is viewed in another shape. Raises Unmatched where a dimension
    would be cut through."""
    axes = [a for dim in dims for a in dim if space.sizes[a] != 1]
    found: list[tuple[int, ...]] = []
    for size in shape:
        taken: tuple[int, ...] = ()
        while axes and space.size(taken) < size:
            taken = (*taken, axes.pop(0))
        if space.size(taken) != size:
            raise Unmatched("a view that cuts through an axis")
        found.append(taken)
    if axes:
        raise Unmatched("a view that leaves out elements")
    return tuple(found)
