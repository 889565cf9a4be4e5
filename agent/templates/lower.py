"""From a traced graph to a program over one iteration space: which tensor runs along which axis, what is
reduced or scanned, what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.templates.expr import Dims, Expr, Leaf, Unmatched, is_index, is_mask
from agent.templates.functional import functional
from agent.templates.lowering import Lowering, Value
from agent.templates.operations import ELEMENTWISE
from agent.templates.reductions import REDUCTIONS
from agent.templates.space import spaces
from agent.templates.views import VIEWS
from evaluator.problem.graph import Graph, Node, Ref


@dataclass(frozen=True)
class Output:
    """What comes out: an expression, the axes of each dimension, the dtype (float32, or int64 for an index)."""

    number: int
    dims: Dims
    dtype: str

    @property
    def axes(self) -> tuple[int, ...]:
        """All its axes, in order of its dimensions."""
        return tuple(a for dim in self.dims for a in dim)


@dataclass(frozen=True)
class Program:
    """What to compute. `space`: sizes of the axes at the traced workload; `fixed`: sizes that the operation sets, or
    None; `reduced`: the axes that reductions run over, adjacent, or empty; `scanned`: the axis of scans, which go
    backwards if `reverse`; `inputs`: ids of tensors among the call's arguments; `sources`: those, then the
    parameters."""

    exprs: tuple[Expr, ...]
    space: tuple[int, ...]
    fixed: tuple[int | None, ...]
    reduced: tuple[int, ...]
    scanned: int | None
    reverse: bool
    outputs: tuple[Output, ...]
    inputs: tuple[str, ...]
    sources: tuple[str, ...]

    def structure(self) -> object:
        """What two workloads of the same problem have in common: all but sizes and broadcasting."""
        plain = tuple(replace(e, leaf=replace(e.leaf, dims=())) if e.leaf else e for e in self.exprs)
        numbers = [o.number for o in self.outputs]
        return plain, len(self.space), self.fixed, self.reduced, self.scanned, self.reverse, numbers

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every tensor that is read, in order of first use."""
        return tuple(dict.fromkeys(e.leaf for e in self.exprs if e.leaf is not None))


def lower(graph: Graph) -> Program:
    """Raises Unmatched where the graph is no such program; the text is of the likeliest space."""
    plain = functional(graph)
    failure: Unmatched | None = None
    for space in spaces(plain):
        try:
            return _program(Lowering(plain, space))
        except Unmatched as e:
            failure = failure or e
    assert failure is not None
    raise failure


def lower_all(graphs: Mapping[str, Graph]) -> Program:
    """One program for all workloads: the one whose sizes tell most. Raises Unmatched where they disagree."""
    if not graphs:
        raise Unmatched("there is no graph")
    ordered = sorted(graphs.values(), key=_ones)
    program = lower(ordered[0])
    for graph in ordered[1:]:
        if not _ones(graph) and lower(graph).structure() != program.structure():
            raise Unmatched("the workloads differ in structure")
    return program


def _ones(graph: Graph) -> int:
    return spaces(graph)[0].shape.count(1)


def _program(low: Lowering) -> Program:
    for node in low.graph.nodes:
        _lower_node(low, node)
    outputs = tuple(_output(low, ref) for ref in low.graph.outputs)
    exprs, outputs = pruned(low.table.exprs, outputs)
    inputs = tuple(v.id for v in low.graph.inputs)
    sources = (*inputs, *(v.id for v in low.graph.parameters))
    space = low.space
    scanned = low.scanned if any(e.kind == "scan" for e in exprs) else None
    return Program(
        exprs, space.sizes, space.fixed, low.reduced, scanned, low.reverse, outputs, inputs, sources
    )


def _lower_node(low: Lowering, node: Node) -> None:
    if node.op in VIEWS:
        low.values[node.id, None] = VIEWS[node.op](low, node)
    elif node.op in REDUCTIONS:
        REDUCTIONS[node.op](low, node)
    elif node.op in ELEMENTWISE:
        _elementwise(low, node)
    else:
        raise Unmatched(node.op)


def _elementwise(low: Lowering, node: Node) -> None:
    shape = node.shapes[0]
    if node.dtypes[0] not in ("float32", "bool", "int64"):
        raise Unmatched(f"{node.op} in {node.dtypes[0]}")
    values = [low.value(a) for a in (*node.args, *node.kwargs.values()) if isinstance(a, Ref)]
    dims = low.common_dims(values, shape)
    flipped = _way(values)
    number = ELEMENTWISE[node.op](low.table, node, lambda a: low.operand(a, dims, shape))
    low.values[node.id, None] = Value(shape, dims, number, flipped=flipped)


def _way(values: Sequence[Value]) -> frozenset[int]:
    """The axes that operands run along backwards: all of those that run along them at all."""
    flipped = frozenset[int]().union(*(v.flipped for v in values))
    for v in values:
        along = {a for dim in v.dims for a in dim} if v.number is not None else flipped
        if v.flipped != flipped & along:
            raise Unmatched("operands that run opposite ways")
    return flipped


def _output(low: Lowering, ref: Ref) -> Output:
    value = low.placed(low.value(ref))
    assert value.number is not None
    expanded = any(not d and n != 1 for d, n in zip(value.dims, value.shape, strict=True))
    if expanded or value.flipped or is_mask(low.table.exprs, value.number):
        raise Unmatched("an output is a mask, or an expanded or flipped value")
    dtype = "int64" if is_index(low.table.exprs, value.number) else "float32"
    if dtype != _dtype(low.graph, ref):
        raise Unmatched(f"an output in {_dtype(low.graph, ref)}")
    return Output(value.number, value.dims, dtype)


def _dtype(graph: Graph, ref: Ref) -> str:
    """The dtype of a value of the graph."""
    made = next((n for n in graph.nodes if n.id == ref.id), None)
    if made is not None:
        return made.dtypes[ref.item or 0]
    return next(v.dtype for v in (*graph.inputs, *graph.parameters) if v.id == ref.id)


def pruned(exprs: Sequence[Expr], outputs: tuple[Output, ...]) -> tuple[tuple[Expr, ...], tuple[Output, ...]]:
    """Only what the outputs need, renumbered."""
    live = {o.number for o in outputs}
    for number in reversed(range(len(exprs))):
        if number in live:
            live.update(exprs[number].args)
    place = {number: i for i, number in enumerate(sorted(live))}
    kept = tuple(replace(exprs[n], args=tuple(place[a] for a in exprs[n].args)) for n in place)
    return kept, tuple(replace(o, number=place[o.number]) for o in outputs)


def reordered(program: Program, order: tuple[int, ...]) -> Program:
    """The same program of an elementwise graph with its axes in another order: `order` names the old ones."""
    place = {old: new for new, old in enumerate(order)}

    def moved(dims: Dims) -> Dims:
        return tuple(tuple(place[a] for a in dim) for dim in dims)

    exprs = tuple(
        replace(e, leaf=replace(e.leaf, dims=moved(e.leaf.dims))) if e.leaf else e for e in program.exprs
    )
    return replace(
        program,
        exprs=exprs,
        space=tuple(program.space[a] for a in order),
        fixed=tuple(program.fixed[a] for a in order),
        outputs=tuple(replace(o, dims=moved(o.dims)) for o in program.outputs),
    )
