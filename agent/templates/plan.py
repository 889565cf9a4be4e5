"""How a program is carried out: its axes in groups, its tensors, its passes, what is kept between them; and
the filling of a source template."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from agent.templates.expr import COSTLY, Dims, Leaf, Unmatched, is_index, is_mask
from agent.templates.lower import Program
from agent.templates.product import PRODUCT
from agent.templates.window import WINDOW
from evaluator.problem.graph import Argument, Graph, Ref

NEEDS = {
    "tanh": ("exp",),
    "erf": ("exp",),
    "normal_cdf": ("exp",),
    "sigmoid": ("exp",),
    "expm1": ("exp",),
    "log1p": ("log",),
}


CTYPES = {"float32": "float", "bool": "uint8_t", "int64": "int64_t", "float64": "double"}
ITEM_BYTES = {"float32": 4, "bool": 1, "int64": 8, "float64": 8}


@dataclass(frozen=True)
class Operand:
    """A tensor as the source names it. `dims`: the axes of each dimension; `cut`: what is left out of each, before
    and in all; `along`: how it lies along the last group, in C++."""

    name: str
    tensor: str
    dtype: str
    dims: Dims
    cut: tuple[tuple[int, int], ...]
    along: str
    output: bool

    @property
    def rank(self) -> int:
        """Its number of dimensions."""
        return len(self.dims)

    @property
    def initializer(self) -> str:
        """Its dimensions as an array of `Dim` in C++; a last one stands where there is none."""
        cut = self.cut or ((0, 0),) * self.rank
        dims = [((*map(str, d), "END"), c) for d, c in zip(self.dims, cut, strict=True)]
        dims.append((("END",), (0, 0)))
        return ", ".join(f"{{{{{', '.join(axes)}}}, {before}, {in_all}}}" for axes, (before, in_all) in dims)

    @property
    def ctype(self) -> str:
        """The C++ type of an element."""
        return CTYPES[self.dtype]


class Plan:
    """A program with its axes grouped, its expressions named and its passes counted.

    crosswise: whether tensors may run along axes in another order than the space. apart: an axis that does not walk
    on from the one before in any case. Raises Unmatched.
    """

    def __init__(self, program: Program, crosswise: bool = False, apart: int | None = None) -> None:
        self.program = program
        self.exprs = program.exprs
        self.leaves = program.leaves
        self.axes = len(program.space)
        self.segmented = [leaf for leaf in self.leaves if self._is_segmented(leaf)]
        self.group_of = self._groups(crosswise, apart)
        self.groups = max(self.group_of, default=-1) + 1
        self.last = self.groups - 1
        self.reduced_group = self.group_of[program.reduced[0]] if program.reduced else None
        self.rows = self.reduced_group == self.last
        self.cross = self._cross()
        self.names = {leaf: self._leaf_name(i, leaf) for i, leaf in enumerate(self.leaves)}
        self.depth = self._depths()
        self.wide = self._wide()
        self.scalar = self._scalar()

    @property
    def passes(self) -> int:
        """How many sweeps over the reduced axes the reductions need."""
        return max((self.depth[i] for i, e in enumerate(self.exprs) if e.kind == "reduce"), default=0)

    def _is_segmented(self, leaf: Leaf) -> bool:
        """Whether a tensor runs along the first of the reduced axes only, so that it is constant over segments of a
        row (a weight per channel where several channels are reduced together)."""
        reduced = self.program.reduced
        along = tuple(a for a in leaf.axes if a in reduced)
        return 0 < len(along) < len(reduced) and along == reduced[: len(along)]

    @property
    def segment(self) -> tuple[int, ...]:
        """The axes of one segment. Raises Unmatched where segments differ, or are not those of rows."""
        reduced = self.program.reduced
        found = {tuple(a for a in reduced if a not in leaf.axes) for leaf in self.segmented}
        if len(found) > 1 or (found and not self.rows):
            raise Unmatched("segments of several sizes, or of columns")
        return next(iter(found), ())

    def _groups(self, crosswise: bool, apart: int | None) -> tuple[int, ...]:
        """The group of each axis: neighbours that every tensor has or lacks alike, side by side, and that are both
        reduced or both not, walk as one."""
        members = [self._walked(leaf) for leaf in self.leaves] + [o.axes for o in self.program.outputs]
        if not crosswise and any(list(axes) != sorted(axes) for axes in members):
            raise Unmatched("a transposed tensor")
        cut = {
            a
            for leaf in self.leaves
            for dim, (_, in_all) in zip(leaf.dims, leaf.cut, strict=False)
            for a in dim
            if in_all
        }
        groups: list[int] = []
        for axis in range(self.axes):
            joined = axis not in (0, apart, *cut) and self._side_by_side(axis, members)
            groups.append((groups[-1] + (not joined)) if groups else 0)
        if len({groups[a] for a in self.program.reduced}) > 1:
            raise Unmatched("a tensor runs along only some of the reduced axes")
        return tuple(groups)

    def is_crosswise(self, leaf: Leaf) -> bool:
        """Whether a tensor runs along the last group, but is adjacent along another."""
        return self.along(leaf.axes, self.last) and self.group_of[leaf.axes[-1]] != self.last

    def _cross(self) -> int | None:
        """The group along which crosswise tensors are adjacent. Raises Unmatched where they differ."""
        found = {self.group_of[leaf.axes[-1]] for leaf in self.leaves if self.is_crosswise(leaf)}
        if len(found) > 1 or any(leaf.dtype != "float32" for leaf in self.leaves if self.is_crosswise(leaf)):
            raise Unmatched("tensors crosswise in several ways, or of masks")
        return next(iter(found), None)

    def _walked(self, leaf: Leaf) -> tuple[int, ...]:
        """The axes that a tensor is walked along: of one that is constant over segments, those of the rows."""
        hidden = self.program.reduced if leaf in self.segmented else ()
        return tuple(a for a in leaf.axes if a not in hidden)

    def _side_by_side(self, axis: int, members: Sequence[tuple[int, ...]]) -> bool:
        """Whether every tensor walks on from the axis before to this one, or knows neither."""
        program = self.program
        alike = (axis in program.reduced) == (axis - 1 in program.reduced)
        if not alike or program.scanned in (axis, axis - 1):
            return False
        return all(
            axes.index(axis) == axes.index(axis - 1) + 1
            if axis in axes and axis - 1 in axes
            else axis not in axes and axis - 1 not in axes
            for axes in members
        )

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
        """Whether each expression varies along the reduced axes; without any, along the last group or a scan."""
        scanned = self.program.scanned
        groups = {self.last if self.reduced_group is None else self.reduced_group, self.cross}
        groups |= set() if scanned is None else {self.group_of[scanned]}
        wide: list[bool] = []
        for e in self.exprs:
            if e.kind == "leaf":
                assert e.leaf is not None
                wide.append(any(self.along(e.leaf.axes, g) for g in groups))
            else:
                wide.append(e.kind in ("op", "scan") and any(wide[a] for a in e.args))
        return wide

    def _scalar(self) -> list[bool]:
        """Whether each expression is known only after all rows. Raises Unmatched where a row needs such a one."""
        scalar: list[bool] = []
        for number, e in enumerate(self.exprs):
            of_scalars = any(scalar[a] for a in e.args)
            if of_scalars and (self.wide[number] or e.kind != "op"):
                raise Unmatched("a row that needs what is known after all rows")
            scalar.append(e.kind in ("outer", "outer_count") or of_scalars)
        return scalar

    def along(self, axes: Iterable[int], group: int | None) -> bool:
        """Whether a tensor with these axes runs along the group."""
        return group is not None and any(self.group_of[a] == group for a in axes)

    def operands(self) -> list[Operand]:
        """Inputs and parameters in order of use, then outputs."""
        found = [
            Operand(
                name=self.names[leaf],
                tensor=self.tensor(leaf.source),
                dtype=leaf.dtype,
                dims=leaf.dims,
                cut=leaf.cut,
                along=self._along(leaf),
                output=False,
            )
            for leaf in self.leaves
        ]
        for i, o in enumerate(self.program.outputs):
            along = "UNIT" if self.along(o.axes, self.last) else "NONE"
            found.append(
                Operand(f"out{i}", f"args->outputs[{i}]", o.dtype, o.dims, (), f"Along::{along}", True)
            )
        return found

    def _along(self, leaf: Leaf) -> str:
        if leaf in self.segmented:
            return "Along::SEGMENTS"
        if self.is_crosswise(leaf):
            return "Along::CROSS"
        return "Along::UNIT" if self.along(leaf.axes, self.last) else "Along::NONE"

    def product_axes(self) -> Dims:
        """Where the result of a matrix product lies, if there is one; nothing where there is none."""
        return next((leaf.dims for leaf in self.leaves if leaf.source == PRODUCT), ())

    def tensor(self, source: str) -> str:
        """A tensor of the call in C++."""
        if source in (PRODUCT, WINDOW):
            return source
        sources = self.program.sources
        if source in self.program.inputs:
            return f"args->inputs[{source.removeprefix('x')}]"
        return f"args->parameters[{sources.index(source) - len(self.program.inputs)}]"

    def functions(self) -> set[str]:
        """The vector functions that the source must contain."""
        used = {e.name for e in self.exprs if e.kind != "leaf"}
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
            plain = not is_mask(self.exprs, number) and not is_index(self.exprs, number)
            if how != "none" and self.wide[number] and plain and (costly or read):
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
        found[self.passes] = [o.number for o in self.program.outputs if self.wide[o.number]]
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
