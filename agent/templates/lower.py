"""From a traced graph to a program over one iteration space: which tensor runs along which axis, what is
reduced, what comes out.

The iteration space is the shape of the largest tensor in the graph. All reductions run over the same adjacent
axes of it; everything else is elementwise with broadcasting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.templates.expr import ELEMENTWISE, Expr, Leaf, Table, Unmatched, argument, literal
from evaluator.problem.graph import Argument, Graph, Node, Ref

Axes = tuple[int | None, ...]


@dataclass(frozen=True)
class Program:
    """What to compute. `space`: sizes of the axes at the traced workload; `reduced`: the axes that reductions
    run over, adjacent, or empty; `outputs`: an expression each, with the axis of every dimension; `inputs`: ids of
    tensors among the call's arguments; `sources`: those, then the parameters."""

    exprs: tuple[Expr, ...]
    space: tuple[int, ...]
    reduced: tuple[int, ...]
    outputs: tuple[tuple[int, Axes], ...]
    inputs: tuple[str, ...]
    sources: tuple[str, ...]

    def structure(self) -> object:
        """What two workloads of the same problem have in common: all but sizes and broadcasting."""
        plain = tuple(replace(e, leaf=Leaf(e.leaf.source, ())) if e.leaf else e for e in self.exprs)
        return plain, len(self.space), self.reduced, [number for number, _ in self.outputs]


@dataclass(frozen=True)
class _Value:
    """A tensor on the way: `number` is its expression; or, while it is not yet known where a small input
    belongs, `source` names it and `axes` are its own dimensions."""

    shape: tuple[int, ...]
    axes: Axes
    number: int | None = None
    source: str = ""


def lower(graph: Graph) -> Program:
    """Raises Unmatched where the graph is no such program."""
    return _Lowering(graph).program()


def lower_all(graphs: Mapping[str, Graph]) -> Program:
    """One program for all workloads: the one whose sizes tell most. Raises Unmatched where they disagree."""
    if not graphs:
        raise Unmatched("there is no graph")
    ordered = sorted(graphs.values(), key=lambda graph: _space(graph).count(1))
    program = lower(ordered[0])
    for graph in ordered[1:]:
        if 1 not in _space(graph) and lower(graph).structure() != program.structure():
            raise Unmatched("the workloads differ in structure")
    return program


class _Lowering:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.table = Table()
        self.space = _space(graph)
        self.reduced: tuple[int, ...] = ()
        self.values: dict[tuple[str, int | None], _Value] = {}
        for value in (*graph.inputs, *graph.parameters):
            own = _Value(value.shape, tuple(range(len(value.shape))), source=value.id)
            self.values[value.id, None] = own
        self.ranks = {v.id: len(v.shape) for v in (*graph.inputs, *graph.parameters)}
        self.dtypes = {v.id: v.dtype for v in (*graph.inputs, *graph.parameters)}

    def program(self) -> Program:
        for node in self.graph.nodes:
            self._node(node)
        outputs = tuple(self._output(ref) for ref in self.graph.outputs)
        exprs, outputs = _pruned(self.table.exprs, outputs)
        inputs = tuple(v.id for v in self.graph.inputs)
        sources = tuple(v.id for v in (*self.graph.inputs, *self.graph.parameters))
        return Program(exprs, self.space, self.reduced, outputs, inputs, sources)

    def _output(self, ref: Ref) -> tuple[int, Axes]:
        value = self._placed(self._value(ref))
        assert value.number is not None
        wide = any(a is None and n != 1 for a, n in zip(value.axes, value.shape, strict=True))
        if wide or self.table.is_mask(value.number):
            raise Unmatched("an output is a mask or an expanded value")
        return value.number, value.axes

    def _value(self, ref: Argument) -> _Value:
        if not isinstance(ref, Ref):
            raise Unmatched(f"{ref!r} where a tensor is expected")
        value = self.values.get((ref.id, ref.item))
        if value is None:
            raise Unmatched(f"output {ref.item} of {ref.id} is not known")
        return value

    def _node(self, node: Node) -> None:
        if node.op in VIEWS:
            self.values[node.id, None] = VIEWS[node.op](self, node)
        elif node.op in REDUCTIONS:
            REDUCTIONS[node.op](self, node)
        elif node.op in ELEMENTWISE:
            self._elementwise(node)
        else:
            raise Unmatched(node.op)

    def _elementwise(self, node: Node) -> None:
        shape = node.shapes[0]
        if node.dtypes[0] not in ("float32", "bool"):
            raise Unmatched(f"{node.op} in {node.dtypes[0]}")
        arguments = [*node.args, *node.kwargs.values()]
        axes = self._common_axes([self._value(a) for a in arguments if isinstance(a, Ref)], shape)
        number = ELEMENTWISE[node.op](self.table, node, lambda a: self._operand(a, axes, shape))
        self.values[node.id, None] = _Value(shape, axes, number)

    def _operand(self, value: Argument, axes: Axes, shape: tuple[int, ...]) -> int:
        if not isinstance(value, Ref):
            return self.table.const(literal(value))
        number = self._placed(self._value(value), axes, shape).number
        assert number is not None
        return number

    def _common_axes(self, values: Sequence[_Value], shape: tuple[int, ...]) -> Axes:
        """The axes of a result of `shape`, from those of its operands, aligned at the right."""
        rank = len(shape)
        axes: list[int | None] = [None] * rank
        for value in (v if v.number is not None else self._whole(v) for v in values):
            if value is None:
                continue
            for place, axis in enumerate(value.axes, rank - len(value.axes)):
                if axis is not None and axes[place] not in (None, axis):
                    raise Unmatched("operands run along different axes")
                axes[place] = axis if axis is not None else axes[place]
        offset = len(self.space) - rank
        for place, size in enumerate(shape):
            if axes[place] is None and size != 1:
                free = offset + place
                if free < 0 or free in axes or self.space[free] != size:
                    raise Unmatched("an operand fits no axis")
                axes[place] = free
        return tuple(axes)

    def _whole(self, value: _Value) -> _Value | None:
        """A small input's place if its rank leaves only one."""
        fits = all(n in (1, s) for n, s in zip(value.shape, self.space, strict=False))
        return self._placed(value) if fits and len(value.shape) == len(self.space) else None

    def _placed(
        self, value: _Value, axes: Axes | None = None, shape: tuple[int, ...] | None = None
    ) -> _Value:
        """The value with its dimensions fixed to axes: those of the result it goes into, else the last ones."""
        if value.number is not None:
            return value
        rank = len(self.space)
        if axes is None or shape is None:
            axes, shape = tuple(range(rank)), self.space
        if self.dtypes[value.source] != "float32" or len(value.shape) > len(axes):
            raise Unmatched(f"{value.source} is {self.dtypes[value.source]} or of too many dimensions")
        offset = len(axes) - len(value.shape)
        placed: list[int | None] = []
        of_source: dict[int, int | None] = {}
        for place, size in enumerate(value.shape):
            full, axis = shape[offset + place], axes[offset + place]
            if size not in (1, full):
                raise Unmatched(f"{value.source} fits no axis")
            placed.append(axis if size == full else None)
            own = value.axes[place]
            if own is not None:
                of_source[own] = placed[-1]
        leaf = Leaf(value.source, tuple(of_source.get(d) for d in range(self.ranks[value.source])))
        return _Value(value.shape, tuple(placed), self.table.add(Expr("leaf", leaf=leaf)))

    def reduce_axes(self, value: _Value, dims: Argument) -> tuple[_Value, tuple[int, ...]]:
        """The placed value and its dimensions to reduce; remembers the axes they are."""
        value = self._placed(value)
        rank = len(value.shape)
        listed = dims if isinstance(dims, tuple) else (() if dims is None else (dims,))
        places = sorted(int(literal(d)) % rank for d in listed) if listed else list(range(rank))
        axes = tuple(a for a in (value.axes[p] for p in places) if a is not None)
        adjacent = bool(axes) and axes == tuple(range(axes[0], axes[0] + len(axes)))
        if len(axes) != len(places) or not adjacent or (self.reduced and self.reduced != axes):
            raise Unmatched("reductions over different or separate axes")
        self.reduced = axes
        return value, tuple(places)

    def put(
        self, node: Node, item: int | None, value: _Value, places: Sequence[int], keep: bool, number: int
    ) -> None:
        """Store a reduction's result: `value` without (or with broadcast) the dimensions at `places`."""
        kept = [None if p in places else a for p, a in enumerate(value.axes) if keep or p not in places]
        shape = tuple(1 if p in places else n for p, n in enumerate(value.shape) if keep or p not in places)
        self.values[node.id, item] = _Value(shape, tuple(kept), number)


def _pruned(
    exprs: Sequence[Expr], outputs: tuple[tuple[int, Axes], ...]
) -> tuple[tuple[Expr, ...], tuple[tuple[int, Axes], ...]]:
    """Only what the outputs need, renumbered."""
    live = {number for number, _ in outputs}
    for number in reversed(range(len(exprs))):
        if number in live:
            live.update(exprs[number].args)
    place = {number: i for i, number in enumerate(sorted(live))}
    kept = tuple(replace(exprs[n], args=tuple(place[a] for a in exprs[n].args)) for n in place)
    return kept, tuple((place[number], axes) for number, axes in outputs)


def _space(graph: Graph) -> tuple[int, ...]:
    shapes = [v.shape for v in graph.inputs] + [s for n in graph.nodes for s in n.shapes]
    shapes = shapes or [()]
    return max(shapes, key=lambda shape: (math.prod(shape), -shapes.index(shape)))


def _mean(t: Table, x: int) -> int:
    return t.op("div", t.reduce("sum", x), t.count())


def _variance(t: Table, x: int, mean: int, correction: float) -> int:
    centred = t.op("sub", x, mean)
    total = t.reduce("sum", t.op("mul", centred, centred))
    return t.op("div", total, t.op("sub", t.count(), t.const(correction)))


def _simple_reduction(
    build: Callable[[Table, int], int], item: int | None
) -> Callable[[_Lowering, Node], None]:
    def lower_reduction(low: _Lowering, node: Node) -> None:
        value, places = low.reduce_axes(low._value(node.args[0]), argument(node, 1, "dim"))
        assert value.number is not None
        keep = bool(argument(node, 2, "keepdim", False))
        x = value.number
        if low.table.is_mask(x):
            x = low.table.op("select", x, low.table.const(1.0), low.table.const(0.0))
        if node.dtypes[0] != "float32":
            raise Unmatched(f"{node.op} in {node.dtypes[0]}")
        low.put(node, item, value, places, keep, build(low.table, x))

    return lower_reduction


def _var(low: _Lowering, node: Node) -> None:
    value, places = low.reduce_axes(low._value(node.args[0]), argument(node, 1, "dim"))
    assert value.number is not None
    correction, keep = node.kwargs.get("correction"), bool(node.kwargs.get("keepdim", False))
    mean = _mean(low.table, value.number)
    variance = _variance(low.table, value.number, mean, 1.0 if correction is None else literal(correction))
    both = node.op.startswith("aten.var_mean")
    low.put(node, 0 if both else None, value, places, keep, variance)
    if both:
        low.put(node, 1, value, places, keep, mean)


def _softmax(low: _Lowering, node: Node) -> None:
    value, _places = low.reduce_axes(low._value(node.args[0]), node.args[1])
    assert value.number is not None
    t = low.table
    shifted = t.op("sub", value.number, t.reduce("max_number", value.number))
    power = t.op("exp", shifted)
    total = t.reduce("sum", power)
    log = node.op.startswith("aten._log")
    result = t.op("sub", shifted, t.op("log", total)) if log else t.op("div", power, total)
    low.values[node.id, None] = replace(value, number=result)


def _layer_norm(low: _Lowering, node: Node) -> None:
    normalized = node.args[1]
    assert isinstance(normalized, tuple)
    source = low._value(node.args[0])
    rank = len(source.shape)
    value, places = low.reduce_axes(source, tuple(range(rank - len(normalized), rank)))
    assert value.number is not None
    t = low.table
    mean = _mean(t, value.number)
    scale = t.op(
        "div",
        t.const(1.0),
        t.op("sqrt", t.op("add", _variance(t, value.number, mean, 0.0), t.const(literal(node.args[4])))),
    )
    result = t.op("mul", t.op("sub", value.number, mean), scale)
    for name, extra in (("mul", node.args[2]), ("add", node.args[3])):
        if extra is not None:
            result = t.op(name, result, low._operand(extra, value.axes, value.shape))
    low.values[node.id, 0] = replace(value, number=result)
    low.put(node, 1, value, places, True, mean)
    low.put(node, 2, value, places, True, scale)


def _vector_norm(low: _Lowering, node: Node) -> None:
    order = literal(argument(node, 1, "ord", 2))
    value, places = low.reduce_axes(low._value(node.args[0]), argument(node, 2, "dim"))
    assert value.number is not None
    t, x = low.table, value.number
    if order == 2:
        number = t.op("sqrt", t.reduce("sum", t.op("mul", x, x)))
    elif order == 1:
        number = t.reduce("sum", t.op("magnitude", x))
    elif math.isinf(order):
        number = t.reduce("max" if order > 0 else "min", t.op("magnitude", x))
    else:
        raise Unmatched(f"a norm of order {order:g}")
    low.put(node, None, value, places, bool(argument(node, 3, "keepdim", False)), number)


def _reshaped(low: _Lowering, node: Node) -> _Value:
    """A view that only adds or drops dimensions of size 1."""
    value, shape = low._value(node.args[0]), node.shapes[0]
    kept = [(n, a) for n, a in zip(value.shape, value.axes, strict=True) if n != 1]
    if [n for n, _ in kept] != [n for n in shape if n != 1]:
        raise Unmatched(f"{node.op} that moves elements")
    if len(value.shape) == len(shape):
        return value
    rest = iter(kept)
    return replace(value, shape=shape, axes=tuple(next(rest)[1] if n != 1 else None for n in shape))


def _expanded(low: _Lowering, node: Node) -> _Value:
    value, shape = low._value(node.args[0]), node.shapes[0]
    if value.number is None:
        value = low._placed(value) if len(value.shape) == len(shape) else value
    if value.number is None:
        raise Unmatched("an expanded input")
    return replace(value, shape=shape, axes=(None,) * (len(shape) - len(value.axes)) + value.axes)


VIEWS: Mapping[str, Callable[[_Lowering, Node], _Value]] = {
    **{f"aten.{name}": _reshaped for name in ("view.default", "reshape.default", "_unsafe_view.default")},
    **{
        f"aten.{name}": _reshaped
        for name in ("unsqueeze.default", "squeeze.dim", "squeeze.dims", "squeeze.default")
    },
    "aten.expand.default": _expanded,
}

REDUCTIONS: Mapping[str, Callable[[_Lowering, Node], None]] = {
    "aten.sum.dim_IntList": _simple_reduction(lambda t, x: t.reduce("sum", x), None),
    "aten.sum.default": _simple_reduction(lambda t, x: t.reduce("sum", x), None),
    "aten.mean.dim": _simple_reduction(_mean, None),
    "aten.mean.default": _simple_reduction(_mean, None),
    "aten.amax.default": _simple_reduction(lambda t, x: t.reduce("max", x), None),
    "aten.amin.default": _simple_reduction(lambda t, x: t.reduce("min", x), None),
    "aten.max.dim": _simple_reduction(lambda t, x: t.reduce("max", x), 0),
    "aten.min.dim": _simple_reduction(lambda t, x: t.reduce("min", x), 0),
    "aten.max.default": _simple_reduction(lambda t, x: t.reduce("max", x), None),
    "aten.min.default": _simple_reduction(lambda t, x: t.reduce("min", x), None),
    "aten.var.correction": _var,
    "aten.var_mean.correction": _var,
    "aten._softmax.default": _softmax,
    "aten._log_softmax.default": _softmax,
    "aten.native_layer_norm.default": _layer_norm,
    "aten.linalg_vector_norm.default": _vector_norm,
}
