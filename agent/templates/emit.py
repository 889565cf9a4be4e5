"""C++ statements for the expressions of a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from agent.templates.expr import Expr, is_index, is_mask
from agent.templates.plan import Plan

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "and": "&",
    "or": "|",
    "gt": ">",
    "ge": ">=",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
}
PREFIX = {"neg": "-", "not": "~"}
COUNTS = ("count", "outer_count")
NEUTRAL = {
    "sum": "0.0f",
    "prod": "1.0f",
    "max": "-INFINITY",
    "min": "INFINITY",
    "max_number": "-INFINITY",
    "argmax": "-INFINITY",
    "argmin": "INFINITY",
}
COMBINE = {
    "sum": "{0} + {1}",
    "prod": "{0} * {1}",
    "max": "larger({0}, {1})",
    "min": "smaller({0}, {1})",
    "max_number": "larger_number({0}, {1})",
}
ACROSS = {"max": "larger", "min": "smaller", "max_number": "larger_number"}
IN_DOUBLE = {"sum": ("+=", "total"), "prod": ("*=", "product")}
"""Reductions whose totals over chunks are doubles: how a part joins, what combines lanes."""

PLACE_TYPES = {"argmax": "Place<true>", "argmin": "Place<false>"}


@dataclass(frozen=True)
class Running:
    """A reduction under way, in statements: what a part and a total hold, how two parts join, how a total absorbs a
    part, how two totals merge."""

    part: str
    total: str
    join: str
    absorb: str
    merge: str


@dataclass(frozen=True)
class Emitter:
    """Statements of one plan. `kept`: expressions stored between passes, with the pass that computes them.
    `row`: a prefix for values that are known per row or column ("row."), where they are not local. `position`: the
    index of each lane's element along the reduced axes. `scans`: a prefix for the state of scans."""

    plan: Plan
    kept: Mapping[int, int]
    row: str = ""
    position: str = ""
    scans: str = ""

    def name(self, number: int) -> str:
        """The C++ name of an expression's value."""
        e = self.plan.exprs[number]
        if e.kind == "leaf":
            assert e.leaf is not None
            return f"{self.plan.names[e.leaf]}_value"
        return e.kind if e.kind in COUNTS else f"{e.name}{number}"

    def type(self, number: int) -> str:
        """The C++ type of an expression's value."""
        exprs = self.plan.exprs
        return "I" if is_mask(exprs, number) or is_index(exprs, number) else "V"

    def value(self, number: int, row: str = "") -> str:
        """An expression's value as a vector, where it is used."""
        e = self.plan.exprs[number]
        if e.kind == "const":
            return f"splat({literal(e.value)})"
        local = self.plan.wide[number] or self.plan.scalar[number] or e.kind in COUNTS
        return self.name(number) if local else row + self.name(number)

    def operation(self, e: Expr, row: str = "") -> str:
        """One operation; a constant beside a vector stays a plain number."""
        indices = any(is_index(self.plan.exprs, a) for a in e.args)
        operands = [self._index(a) or self.value(a, row) if indices else self.value(a, row) for a in e.args]
        if e.name in INFIX:
            constants = [self.plan.exprs[a] for a in e.args]
            for i in (1, 0):
                if constants[i].kind == "const" and constants[1 - i].kind != "const":
                    operands[i] = literal(constants[i].value, whole=indices)
            return f"{operands[0]} {INFIX[e.name]} {operands[1]}"
        if e.name in PREFIX:
            return f"{PREFIX[e.name]}{operands[0]}"
        return f"{e.name}({', '.join(operands)})"

    def _index(self, number: int) -> str | None:
        """A constant beside an index."""
        e = self.plan.exprs[number]
        return f"(I{{}} + {literal(e.value, whole=True)})" if e.kind == "const" else None

    def body(self, number_of_pass: int, load: Mapping[int, str], at: str) -> list[str]:
        """What a pass does with one vector. load: how each wide leaf is read; at: the place in kept memory."""
        lines = []
        for number in self.plan.needed(number_of_pass, self.kept):
            e = self.plan.exprs[number]
            declared = f"const {self.type(number)} {self.name(number)} = "
            if self.kept.get(number, number_of_pass) < number_of_pass:
                lines.append(f"{declared}load({self.place(number)} + {at}, Full{{}});")
                continue
            lines.append(f"{declared}{load[number] if e.kind == 'leaf' else self._computed(number)};")
            if self.kept.get(number) == number_of_pass:
                lines.append(f"store({self.place(number)} + {at}, {self.name(number)}, Full{{}});")
        return lines

    def _computed(self, number: int) -> str:
        e = self.plan.exprs[number]
        if e.kind == "scan":
            return f"{self.scans}{self.name(number)}.next({self.value(e.args[0])}, lanes)"
        return self.operation(e, self.row)

    def place(self, number: int) -> str:
        """The name of the kept memory of an expression."""
        return f"kept{list(self.kept).index(number)}"

    def running(self, number_of_pass: int) -> list[Running]:
        """The reductions of a pass."""
        return [self._running(number) for number in self.reductions(number_of_pass)]

    def reductions(self, number_of_pass: int) -> list[int]:
        """Their numbers."""
        plan = self.plan
        return [i for i, e in enumerate(plan.exprs) if e.kind == "reduce" and plan.depth[i] == number_of_pass]

    def _running(self, number: int) -> Running:
        kind, name = self.plan.exprs[number].name, self.name(number)
        if kind in PLACE_TYPES:
            declared, join = f"{PLACE_TYPES[kind]} {name};", f"{name}.join(other.{name});"
            return Running(declared, declared, join, f"{name}.join(part.{name});", join)
        declared, join = (
            f"V {name} = splat({NEUTRAL[kind]});",
            f"{name} = {COMBINE[kind].format(name, 'other.' + name)};",
        )
        if kind in IN_DOUBLE:
            total, by = f"D {name} = widen(splat({NEUTRAL[kind]}));", IN_DOUBLE[kind][0]
            return Running(
                declared, total, join, f"{name} {by} widen(part.{name});", f"{name} {by} other.{name};"
            )
        absorb = f"{name} = {COMBINE[kind].format(name, 'part.' + name)};"
        return Running(declared, declared, join, absorb, join)

    def accumulate(self, number_of_pass: int, masked: bool) -> list[str]:
        """How one vector joins the running reductions of a pass. masked: lanes out of use must stay neutral."""
        lines = []
        for number in self.reductions(number_of_pass):
            e, place = self.plan.exprs[number], f"part.{self.name(number)}"
            value = self.value(e.args[0], self.row)
            value = f"keep({value}, {NEUTRAL[e.name]}, lanes)" if masked else value
            if e.name in PLACE_TYPES:
                lines.append(f"{place}.join({value}, {self.position});")
            else:
                lines.append(f"{place} = {COMBINE[e.name].format(place, value)};")
        return lines

    def known(self, depth: int) -> list[int]:
        """Values per row or column that are known after that many passes, in order."""
        plan = self.plan
        return [
            i
            for i, e in enumerate(plan.exprs)
            if not (plan.wide[i] or plan.scalar[i] or e.kind in ("const", *COUNTS)) and plan.depth[i] == depth
        ]

    def scalars(self) -> list[str]:
        """Statements that compute what is known after all rows, from the arrays `outerN` of what each row yields."""
        lines = []
        for number, e in enumerate(self.plan.exprs):
            if not self.plan.scalar[number] or e.kind in COUNTS:
                continue
            value = self.operation(e) if e.kind == "op" else f"splat(sum(outer{number}, rows))"
            lines.append(f"const {self.type(number)} {self.name(number)} = {value};")
        return lines

    def outers(self) -> list[int]:
        """The reductions over all rows."""
        return [i for i, e in enumerate(self.plan.exprs) if e.kind == "outer"]


def literal(value: float, whole: bool = False) -> str:
    """A constant in C++: a float, or a whole number beside an index."""
    if whole:
        return str(int(value))
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!r}f"
