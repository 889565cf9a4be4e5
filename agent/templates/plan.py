"""How a program is carried out: its axes in groups, its tensors, its passes, what is kept between them; and
the filling of a source template."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from agent.templates.expr import COSTLY, Leaf, Unmatched
from agent.templates.lower import Program
from evaluator.problem.graph import Argument, Graph, Ref

NEEDS = {
    "tanh": ("exp",),
    "erf": ("exp",),
    "normal_cdf": ("exp",),
    "sigmoid": ("exp",),
    "expm1": ("exp",),
    "log1p": ("log",),
}


@dataclass(frozen=True)
class Operand:
    """A tensor as the source names it. `unit`: adjacent along the last group, else broadcast there."""

    name: str
    tensor: str
    rank: int
    axis_of: tuple[int, ...]
    unit: str
    comment: str
    output: bool


class Plan:
    """A program with its axes grouped, its expressions named and its passes counted."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.exprs = program.exprs
        self.axes = len(program.space)
        self.group_of = self._groups()
        self.groups = max(self.group_of, default=-1) + 1
        self.last = self.groups - 1
        self.reduced_group = self.group_of[program.reduced[0]] if program.reduced else None
        self.rows = self.reduced_group == self.last
        self.names = {leaf: self._leaf_name(i, leaf) for i, leaf in enumerate(self.leaves)}
        self.depth = self._depths()
        self.wide = self._wide()

    @property
    def leaves(self) -> list[Leaf]:
        """Every tensor that is read, in order of first use."""
        return [e.leaf for e in self.exprs if e.leaf is not None]

    @property
    def passes(self) -> int:
        """How many sweeps over the reduced axes the reductions need."""
        return max((self.depth[i] for i, e in enumerate(self.exprs) if e.kind == "reduce"), default=0)

    def _groups(self) -> tuple[int, ...]:
        """The group of each axis: neighbours that every tensor has or lacks alike, and that are both reduced or
        both not, walk as one."""
        members = [set(leaf.axes) for leaf in self.leaves] + [set(axes) for _, axes in self.program.outputs]
        members.append(set(self.program.reduced))
        signs = [tuple(axis in m for m in members) for axis in range(self.axes)]
        groups: list[int] = []
        for axis, sign in enumerate(signs):
            groups.append(groups[-1] + (sign != signs[axis - 1]) if groups else 0)
        if len({groups[a] for a in self.program.reduced}) > 1:
            raise Unmatched("a tensor runs along only some of the reduced axes")
        for axes in [leaf.axes for leaf in self.leaves] + [axes for _, axes in self.program.outputs]:
            real = [a for a in axes if a is not None]
            if real != sorted(real):
                raise Unmatched("a transposed tensor")
        return tuple(groups)

    def _leaf_name(self, number: int, leaf: Leaf) -> str:
        plain = re.sub(r"\W", "_", leaf.source)
        again = sum(1 for other in self.leaves[:number] if other.source == leaf.source)
        name = plain if re.fullmatch(r"x\d+", plain) else f"p_{plain}"
        return f"{name}_{again}" if again else name

    def _depths(self) -> list[int]:
        depth: list[int] = []
        for e in self.exprs:
            below = max((depth[a] for a in e.args), default=0)
            depth.append(below + 1 if e.kind == "reduce" else below)
        return depth

    def _wide(self) -> list[bool]:
        """Whether each expression varies along the reduced axes (or, without any, at all)."""
        wide: list[bool] = []
        for e in self.exprs:
            if e.kind == "leaf":
                assert e.leaf is not None
                wide.append(not self.program.reduced or self.program.reduced[0] in e.leaf.axes)
            else:
                wide.append(e.kind == "op" and (not self.program.reduced or any(wide[a] for a in e.args)))
        return wide

    def along(self, axes: Iterable[int | None], group: int | None) -> bool:
        """Whether a tensor with these axes runs along the group."""
        return group is not None and any(a is not None and self.group_of[a] == group for a in axes)

    def operands(self) -> list[Operand]:
        """Inputs and parameters in order of use, then outputs."""
        found = [
            self._operand(self.names[leaf], self._tensor(leaf.source), leaf.axes) for leaf in self.leaves
        ]
        for i, (_, axes) in enumerate(self.program.outputs):
            found.append(self._operand(f"out{i}", f"args->outputs[{i}]", axes))
        return found

    def _tensor(self, source: str) -> str:
        sources = self.program.sources
        if source in self.program.inputs:
            return f"args->inputs[{source.removeprefix('x')}]"
        return f"args->parameters[{sources.index(source) - len(self.program.inputs)}]"

    def _operand(self, name: str, tensor: str, axes: tuple[int | None, ...]) -> Operand:
        listed = tuple(self.axes if a is None else a for a in axes)
        unit = "true" if self.along(axes, self.last) else "false"
        return Operand(name, tensor, len(axes), listed, unit, tensor, tensor.startswith("args->outputs"))

    def functions(self) -> set[str]:
        """The vector functions that the source must contain."""
        used = {e.name for e in self.exprs if e.kind == "op"}
        return used | {need for name in used for need in NEEDS.get(name, ())}

    def kept(self, how: str) -> dict[int, int]:
        """Wide expressions to store when first computed and to load in later passes, with the pass they are
        computed in.

        how: "none"; "costly" (what is slow to compute twice); "inputs" (also what is read from memory).
        """
        kept: dict[int, int] = {}
        for number in reversed(range(len(self.exprs))):
            e = self.exprs[number]
            costly = e.kind == "op" and e.name in COSTLY
            read = how == "inputs" and self.depth[number] == 0
            if how != "none" and self.wide[number] and (costly or read):
                uses = [p for p in range(1, self.passes + 2) if number in self.needed(p, kept)]
                if len(uses) > 1:
                    kept[number] = uses[0]
        return kept

    def roots(self) -> list[list[int]]:
        """What each pass has to compute: arguments of its reductions; in the last, the wide outputs."""
        found: list[list[int]] = [[] for _ in range(self.passes + 1)]
        for number, e in enumerate(self.exprs):
            if e.kind == "reduce":
                found[self.depth[number] - 1].append(e.args[0])
        found[self.passes] = [number for number, _ in self.program.outputs if self.wide[number]]
        return found

    def needed(self, number_of_pass: int, kept: Mapping[int, int]) -> list[int]:
        """Wide expressions that the pass computes or loads, in order; below a kept one that an earlier pass has
        computed there is nothing."""
        found: set[int] = set()
        pending = [r for r in self.roots()[number_of_pass - 1] if self.wide[r]]
        while pending:
            number = pending.pop()
            found.add(number)
            if kept.get(number, number_of_pass) >= number_of_pass:
                pending.extend(a for a in self.exprs[number].args if self.wide[a] and a not in found)
        return sorted(found)


def describe(graph: Graph) -> list[str]:
    """The graph in lines, for the head of the source."""
    lines = [f"{n.id} = {n.op.removeprefix('aten.')}({', '.join(map(_spoken, n.args))})" for n in graph.nodes]
    return [*lines, f"returns {', '.join(map(_spoken, graph.outputs))}"]


def _spoken(value: Argument) -> str:
    if isinstance(value, Ref):
        return value.id if value.item is None else f"{value.id}[{value.item}]"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_spoken, value))}]"
    return str(value)


def fill(name: str, values: Mapping[str, object]) -> str:
    """A source from the template file `name`."""
    environment = Environment(
        loader=PackageLoader("agent", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(name).render(values)
