"""Expressions over elements: the small language between a traced graph and generated C++.

An expression is a leaf (a tensor's element), a constant, an operation on expressions, a reduction of one over
the reduced axes, the count of reduced elements, an element picked by an index, a reduction of a value per row over
all the other axes and their count, or a scan. They are numbered in a `Table`; equal ones share a number.

Errors:

    Unmatched     the graph is outside what the templates know; the text says which operation
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Dims = tuple[tuple[int, ...], ...]
"""For each dimension of a tensor the axes of the iteration space that it runs along, outermost first; none where it
is broadcast."""


class Unmatched(Exception):
    """The graph is outside what the templates know."""


@dataclass(frozen=True)
class Leaf:
    """A tensor: "x0" or a parameter's name, with its dtype. `cut`: for each dimension how many elements are left
    out before, and in all; empty where it is read whole."""

    source: str
    dims: Dims
    dtype: str = "float32"
    cut: tuple[tuple[int, int], ...] = ()

    @property
    def axes(self) -> tuple[int, ...]:
        """All its axes, in order of its dimensions."""
        return tuple(a for dim in self.dims for a in dim)


@dataclass(frozen=True)
class Expr:
    """One expression.

    kind: "leaf", "const", "op", "reduce", "count", "pick", "outer", "outer_count" or "scan". name: the C++ function,
    the reduction ("sum", "prod", "max", "min", "max_number", "argmax", "argmin"; "sum" for an outer one) or the scan
    ("cumsum", "cumprod"). args: numbers of other expressions. leaf: the tensor of a leaf or a pick.
    """

    kind: str
    name: str = ""
    args: tuple[int, ...] = ()
    leaf: Leaf | None = None
    value: float = 0.0


COSTLY = frozenset({"exp", "expm1", "log", "log1p", "tanh", "erf", "normal_cdf", "sigmoid", "sqrt", "div"})
"""Operations worth keeping the result of rather than doing twice."""

COMPARISONS = frozenset({"gt", "ge", "lt", "le", "eq", "ne"})
LOGIC = frozenset({"and", "or", "not"})
MASKS = COMPARISONS | LOGIC
"""Operations whose result is a mask, not a number."""

PLACES = frozenset({"argmax", "argmin"})
"""Reductions whose result is an index."""


FOLDED: Mapping[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}
"""Operations on two constants that are done beforehand."""


class Table:
    """Numbered expressions. Later numbers only use earlier ones."""

    def __init__(self) -> None:
        self.exprs: list[Expr] = []
        self._numbers: dict[Expr, int] = {}

    def add(self, expr: Expr) -> int:
        """The number of `expr`, new or known."""
        if expr not in self._numbers:
            self._numbers[expr] = len(self.exprs)
            self.exprs.append(expr)
        return self._numbers[expr]

    def const(self, value: float) -> int:
        """A constant."""
        return self.add(Expr("const", value=float(value)))

    def op(self, name: str, *args: int) -> int:
        """An operation; one that changes nothing is left out, and a mask that is computed with becomes 0 or 1."""
        if name not in LOGIC:
            first = 1 if name == "select" else 0
            args = args[:first] + tuple(map(self.number, args[first:]))
        if name not in COMPARISONS | {"select"} and any(map(self.is_index, args)):
            raise Unmatched(f"{name} of an index")
        known: list[float | None] = [
            self.exprs[a].value if self.exprs[a].kind == "const" else None for a in args
        ]
        if name in FOLDED and known[0] is not None and known[1] is not None:
            return self.const(FOLDED[name](known[0], known[1]))
        if name in ("mul", "div") and known[1] == 1.0:
            return args[0]
        if name == "mul" and known[0] == 1.0:
            return args[1]
        if name in ("add", "sub") and known[1] == 0.0:
            return args[0]
        return self.add(Expr("op", name, args))

    def number(self, number: int) -> int:
        """The expression as a number: 1 or 0 for a mask."""
        if not self.is_mask(number):
            return number
        return self.add(Expr("op", "select", (number, self.const(1.0), self.const(0.0))))

    def reduce(self, name: str, arg: int) -> int:
        """A reduction over the reduced axes."""
        return self.add(Expr("reduce", name, (self.number(arg),)))

    def count(self) -> int:
        """How many elements a reduction runs over."""
        return self.add(Expr("count"))

    def outer(self, name: str, arg: int) -> int:
        """A reduction of a value per row over all rows."""
        if name != "sum":
            raise Unmatched(f"{name} over rows")
        return self.add(Expr("outer", name, (self.number(arg),)))

    def outer_count(self) -> int:
        """How many rows there are."""
        return self.add(Expr("outer_count"))

    def scan(self, name: str, arg: int) -> int:
        """A scan along the scanned axis."""
        return self.add(Expr("scan", name, (self.number(arg),)))

    def pick(self, number: int, index: int, wide: Callable[[int], bool]) -> int:
        """The value that `number` has where the reduced axis is at `index`: the same work on picked elements.

        wide: whether an expression varies along the reduced axis.
        """
        e = self.exprs[number]
        if not wide(number):
            return number
        if e.leaf is not None and e.leaf.dtype == "float32":
            return self.add(Expr("pick", "pick", (index,), e.leaf))
        if e.kind != "op":
            raise Unmatched(f"an element picked from a {e.kind}")
        return self.add(Expr("op", e.name, tuple(self.pick(a, index, wide) for a in e.args)))

    def is_mask(self, number: int) -> bool:
        """Whether the expression is a mask."""
        return is_mask(self.exprs, number)

    def is_index(self, number: int) -> bool:
        """Whether the expression is an index."""
        return is_index(self.exprs, number)


def is_index(exprs: Sequence[Expr], number: int) -> bool:
    """Whether an expression is an index: read as such, found by a reduction, or chosen among such."""
    e = exprs[number]
    if e.leaf is not None:
        return e.leaf.dtype == "int64"
    if e.kind == "reduce":
        return e.name in PLACES
    return e.kind == "op" and e.name == "select" and any(is_index(exprs, a) for a in e.args[1:])


def is_mask(exprs: Sequence[Expr], number: int) -> bool:
    """Whether an expression is a mask."""
    e = exprs[number]
    return (e.kind == "op" and e.name in MASKS) or (e.leaf is not None and e.leaf.dtype == "bool")
