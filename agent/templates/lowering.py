"""The state of a lowering: which value lies where in the iteration space, and its expression.

The iteration space is that of the largest tensor in the graph. Reductions run over one set of adjacent axes of it
(and then, perhaps, over all the others); everything else is elementwise with broadcasting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.templates.arguments import literal
from agent.templates.expr import Dims, Expr, Leaf, Table, Unmatched
from agent.templates.space import Space
from evaluator.problem.graph import Argument, Graph, Node, Ref

DTYPES = frozenset({"float32", "bool", "int64"})


@dataclass(frozen=True)
class Value:
    """A tensor on the way. `number` is its expression and `dims` say where it lies; or, while it is not yet known
    where an input belongs, `source` names it and `dims` are its own dimensions. `flipped`: axes that it runs along
    backwards."""

    shape: tuple[int, ...]
    dims: Dims
    number: int | None = None
    source: str = ""
    cut: tuple[tuple[int, int], ...] = ()
    repeats: int = 1
    flipped: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Reduction:
    """A reduction to make: of `value`, without the dimensions at `places`; `outer`: over all rows."""

    table: Table
    value: Value
    places: tuple[int, ...]
    outer: bool

    @property
    def number(self) -> int:
        """The expression that is reduced."""
        assert self.value.number is not None
        return self.value.number

    def of(self, name: str, number: int) -> int:
        """The reduction of an expression."""
        return self.table.outer(name, number) if self.outer else self.table.reduce(name, number)

    def count(self) -> int:
        """How many elements it runs over."""
        return self.table.outer_count() if self.outer else self.table.count()

    def mean(self, number: int) -> int:
        """The mean of an expression."""
        return self.table.op("div", self.of("sum", number), self.count())


class Lowering:
    """Values of a graph in a space, as far as they are known."""

    def __init__(self, graph: Graph, space: Space) -> None:
        self.graph = graph
        self.space = space
        self.table = Table()
        self.reduced: tuple[int, ...] = ()
        self.scanned: int | None = None
        self.reverse = False
        self.values: dict[tuple[str, int | None], Value] = {}
        self.sources = {v.id: v for v in (*graph.inputs, *graph.parameters)}
        for v in self.sources.values():
            own = tuple((d,) for d in range(len(v.shape)))
            self.values[v.id, None] = Value(v.shape, own, source=v.id)

    def value(self, ref: Argument) -> Value:
        """The value that an argument refers to. Raises Unmatched."""
        if not isinstance(ref, Ref):
            raise Unmatched(f"{ref!r} where a tensor is expected")
        value = self.values.get((ref.id, ref.item))
        if value is None:
            raise Unmatched(f"output {ref.item} of {ref.id} is not known")
        return value

    def number(self, value: Value) -> int:
        """The expression of a value, placed if it was not."""
        number = self.placed(value).number
        assert number is not None
        return number

    def operand(self, argument: Argument, dims: Dims, shape: tuple[int, ...]) -> int:
        """The expression of an argument of an operation whose result lies along `dims`."""
        if not isinstance(argument, Ref):
            return self.table.const(literal(argument))
        return self.number(self.placed(self.value(argument), dims, shape))

    def along(self, argument: Argument, axes: tuple[int, ...]) -> int:
        """The expression of a vector that runs along these axes, such as a weight per channel."""
        value = self.value(argument)
        if len(value.shape) != 1:
            raise Unmatched("a weight that is not a vector")
        if value.repeats > 1:
            if self.space.sizes[axes[0]] != value.repeats:
                raise Unmatched("a repeated weight that fits no axis")
            axes = axes[1:]
            value = replace(value, shape=(self.space.size(axes),), repeats=1)
        if value.number is not None and value.dims != (axes,):
            raise Unmatched("a weight along other axes")
        return self.number(self.placed(value, (axes,), (self.space.size(axes),)))

    def common_dims(self, values: Sequence[Value], shape: tuple[int, ...]) -> Dims:
        """Where a result of `shape` lies, from where its operands lie, aligned at the right."""
        rank = len(shape)
        dims: list[tuple[int, ...]] = [()] * rank
        for value in (v if v.number is not None else self._whole(v) for v in values):
            if value is None:
                continue
            for place, axes in enumerate(value.dims, rank - len(value.dims)):
                if axes and dims[place] not in ((), axes):
                    raise Unmatched("operands run along different axes")
                dims[place] = axes or dims[place]
        if not any(dims) and len(values) == 1 and values[0].number is None:
            return self._home(values[0])[0]
        used = {a for dim in dims for a in dim}
        offset = len(self.space.shape) - rank
        for place, size in enumerate(shape):
            if not dims[place] and size != 1:
                free = offset + place
                if free < 0 or self.space.shape[free] != size or used & set(self.space.dims[free]):
                    raise Unmatched("an operand fits no axis")
                dims[place] = self.space.dims[free]
        return tuple(dims)

    def _whole(self, value: Value) -> Value | None:
        """An input's place if its rank leaves only one."""
        fits = all(n in (1, s) for n, s in zip(value.shape, self.space.shape, strict=False))
        return self.placed(value) if fits and len(value.shape) == len(self.space.shape) else None

    def placed(self, value: Value, dims: Dims | None = None, shape: tuple[int, ...] = ()) -> Value:
        """The value with its dimensions fixed to axes: those of the result it goes into, else its home."""
        if value.number is not None:
            return value
        if dims is None:
            dims, shape = self._home(value)
        own = self.sources[value.source]
        number = own.dtype == "float64" and own.shape == ()
        if not (own.dtype in DTYPES or number) or len(value.shape) > len(dims) or value.repeats > 1:
            raise Unmatched(f"{value.source} is {own.dtype}, repeated, or of too many dimensions")
        offset = len(dims) - len(value.shape)
        placed: list[tuple[int, ...]] = []
        of_source: dict[int, tuple[int, ...]] = {}
        for place, size in enumerate(value.shape):
            full, axes = shape[offset + place], dims[offset + place]
            if size not in (1, full):
                raise Unmatched(f"{value.source} fits no axis")
            placed.append(axes if size == full else ())
            for dim in value.dims[place]:
                of_source[dim] = placed[-1]
        lies = tuple(of_source.get(d, ()) for d in range(len(own.shape)))
        leaf = Leaf(value.source, lies, own.dtype, value.cut)
        return replace(
            value, dims=tuple(placed), number=self.table.add(Expr("leaf", leaf=leaf)), source="", cut=()
        )

    def _home(self, value: Value) -> tuple[Dims, tuple[int, ...]]:
        """Where an input lies that nothing else places: along the last axes; indices and masks, and what fits
        nowhere else, along the axes that are not reduced."""
        space, rank = self.space, len(value.shape)
        last = space.dims[len(space.dims) - rank :], space.shape[len(space.shape) - rank :]
        fits = rank <= len(space.shape) and all(
            n in (1, s) for n, s in zip(value.shape, last[1], strict=True)
        )
        rows = self._among_rows(value)
        if rows is None or (fits and self.sources[value.source].dtype == "float32"):
            return last if rank <= len(space.shape) else (space.dims, space.shape)
        return rows, value.shape

    def _among_rows(self, value: Value) -> Dims | None:
        """The dims of an input that runs along all axes but the reduced ones, in order."""
        free = [d for d in self.space.dims if d and not set(d) & set(self.reduced)]
        if not self.reduced or [self.space.size(d) for d in free] != [n for n in value.shape if n != 1]:
            return None
        rest = iter(free)
        return tuple(next(rest) if n != 1 else () for n in value.shape)

    def reduction(self, argument: Argument, dims: Argument) -> Reduction:
        """What reducing `dims` of an argument means. Raises Unmatched where reductions run over different axes."""
        value = self.placed(self.value(argument))
        rank = len(value.shape)
        listed = dims if isinstance(dims, tuple) else (() if dims is None else (dims,))
        places = sorted(int(literal(d)) % rank for d in listed) if listed else list(range(rank))
        axes = tuple(a for p in places for a in value.dims[p])
        if value.flipped or any(not value.dims[p] and value.shape[p] != 1 for p in places):
            raise Unmatched("a reduction of an expanded or flipped value")
        rows = tuple(a for a in range(len(self.space.sizes)) if a not in self.reduced)
        per_row = not {a for dim in value.dims for a in dim} & set(self.reduced)
        outer = bool(self.reduced) and bool(rows) and per_row and axes == rows
        if not outer:
            self.reduce_over(axes)
        return Reduction(self.table, value, tuple(places), outer)

    def reduce_over(self, axes: tuple[int, ...]) -> None:
        """Remember what reductions run over."""
        adjacent = bool(axes) and axes == tuple(range(axes[0], axes[0] + len(axes)))
        if not adjacent or self.reduced not in ((), axes):
            raise Unmatched("reductions over different or separate axes")
        self.reduced = axes

    def is_wide(self, number: int) -> bool:
        """Whether an expression varies along the reduced axes."""
        e = self.table.exprs[number]
        if e.kind == "leaf":
            assert e.leaf is not None
            return bool(set(e.leaf.axes) & set(self.reduced))
        return e.kind in ("op", "scan") and any(map(self.is_wide, e.args))

    def put(self, node: Node, item: int | None, over: Reduction, keep: bool, number: int) -> None:
        """Store a reduction's result: its value without (or with broadcast) the reduced dimensions."""
        value, places = over.value, over.places
        dims = tuple(() if p in places else d for p, d in enumerate(value.dims) if keep or p not in places)
        shape = tuple(1 if p in places else n for p, n in enumerate(value.shape) if keep or p not in places)
        self.values[node.id, item] = Value(shape, dims, number)
