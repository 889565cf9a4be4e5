"""Reductions over adjacent axes with elementwise work before and after: softmax, layer and RMS normalisation,
sums, means, extremes, norms, losses.

Two shapes of loop: `rows.cpp.jinja` where the last axes are reduced, `columns.cpp.jinja` where others are (then
vectors run along the last axes, in blocks of columns that fit a cache). Each dependent reduction is a pass over
a row or block that is in cache after the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent.templates.cost import NOTHING, Cost, of_passes
from agent.templates.emit import ACROSS, IN_DOUBLE, Emitter
from agent.templates.expr import PLACES, Expr, Table, Unmatched
from agent.templates.lower import Output, Program
from agent.templates.plan import Operand, Plan, fill
from agent.templates.template import Choices, Match, Parameters, common, matched, streamed, written
from evaluator.problem.graph import Graph


class RowReduction:
    """Outputs are full, or lack just the reduced axes."""

    name = "row reduction"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits where something is reduced, over the same adjacent axes everywhere."""
        try:
            match = matched(graphs)
            plan = Plan(match.program)
            at_last = _segments_at_last(plan)
        except Unmatched:
            return None
        program = match.program
        if not program.reduced or program.scanned is not None or not at_last:
            return None
        return match if all(_covers(plan, o) for o in program.outputs) else None

    def choices(self, match: Match) -> Choices:
        """keep: what is stored between passes; reciprocal: divide by a row's value through its reciprocal;
        store, unroll; for columns also the most columns and the floats of a block."""
        plan = Plan(match.program)
        found: dict[str, tuple[int | str | bool, ...]] = {}
        if any(plan.wide[o.number] for o in match.program.outputs) and not plan.segment:
            found["store"] = ("cached", "streamed")
        if plan.rows:
            found["keep"] = ("costly", "none", "inputs")
            found["unroll"] = (4, 8, 2)
        else:
            found["columns"] = (1024, 256, 2048)
            found["keep"] = ("inputs", "costly", "none")
            found["unroll"] = (4, 8, 1)
            found["block_floats"] = (1 << 15, 1 << 17, 1 << 13)
        if with_reciprocals(match.program) != match.program:
            found["reciprocal"] = (True, False)
        return found

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """Every tensor once, every pass with what it has to do again."""
        plan, streams = Plan(match.program), parameters.get("store") == "streamed"
        each = (of_passes(plan, s, str(parameters["keep"]), streams) for s in match.sizes)
        return sum(each, NOTHING)

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        program = with_reciprocals(match.program) if parameters.get("reciprocal") else match.program
        plan = Plan(program)
        position = "LANES + (int32_t)i" if plan.rows else "I{} + (int32_t)r"
        kept = plan.kept(str(parameters["keep"]))
        emitter = Emitter(plan, kept, "" if plan.rows else "row.", position)
        return _Source(emitter, parameters, match).text()


def _covers(plan: Plan, output: Output) -> bool:
    """Whether an output has every axis, every axis but the reduced ones, or, where it follows all rows, none."""
    if plan.scalar[output.number]:
        return not output.axes
    wanted = set(range(plan.axes)) - (set() if plan.wide[output.number] else set(plan.program.reduced))
    missing = wanted - set(output.axes)
    return set(output.axes) <= wanted and all(plan.program.space[a] == 1 for a in missing)


def _segments_at_last(plan: Plan) -> bool:
    """Whether what is constant over segments is needed by the last pass only."""
    early = {number for p in range(1, plan.passes + 1) for number in plan.needed(p, {})}
    return not plan.segment or not any(plan.exprs[n].leaf in plan.segmented for n in early)


def with_reciprocals(program: Program) -> Program:
    """The same with wide divisions by a reduced value turned into multiplications by its reciprocal."""
    plan = Plan(program)
    table = Table()
    place: dict[int, int] = {}
    for number, e in enumerate(program.exprs):
        args = tuple(place[a] for a in e.args)
        divisor = e.args[1] if e.name == "div" else None
        if divisor is not None and plan.wide[number] and plan.depth[divisor] and not plan.wide[divisor]:
            inverse = table.op("div", table.const(1.0), args[1])
            place[number] = table.op("mul", args[0], inverse)
        else:
            place[number] = table.add(replace(e, args=args))
    outputs = tuple(replace(o, number=place[o.number]) for o in program.outputs)
    return replace(program, exprs=tuple(table.exprs), outputs=outputs)


class _Source:
    """Fills the template of a plan."""

    def __init__(self, emitter: Emitter, parameters: Parameters, match: Match) -> None:
        self.emitter = emitter
        self.plan = emitter.plan
        self.parameters = parameters
        self.match = match
        self.lanes = "i" if self.plan.rows else "c"

    def text(self) -> str:
        plan, emitter = self.plan, self.emitter
        operands = plan.operands()
        outputs = plan.program.outputs
        past_cache = streamed(operands, [plan.wide[o.number] for o in outputs], self.parameters)
        title = f"A reduction along {'rows' if plan.rows else 'columns'} with the work around it, fused."
        outers = [{"number": n, "slot": len(operands) + i} for i, n in enumerate(emitter.outers())]
        values: dict[str, object] = {
            **common(plan, title, self.match, self.parameters, self._plan_in_words()),
            "operands": [self._operand(o) for o in operands],
            "slots": len(operands) + len(outers) + 2,
            "reduced_group": plan.reduced_group,
            "kept": [{"name": emitter.place(n), "what": emitter.name(n)} for n in emitter.kept],
            "known_before": self._known(0),
            "passes": [self._pass(p) for p in range(1, plan.passes + 1)],
            "fields": [
                {"type": emitter.type(n), "name": emitter.name(n)}
                for depth in range(plan.passes + 1)
                for n in emitter.known(depth)
            ],
            "row_outputs": self._row_outputs(),
            "final": self._final(past_cache),
            "outers": outers,
            "scalars": emitter.scalars(),
            "scalar_outputs": [
                {"name": f"out{i}", "value": emitter.value(o.number)}
                for i, o in enumerate(outputs)
                if plan.scalar[o.number]
            ],
            "indices": any(e.name in PLACES or e.kind == "pick" for e in plan.exprs),
            "streamed": past_cache,
            "unroll": self.parameters["unroll"],
            "columns": self.parameters.get("columns"),
            "block_floats": self.parameters.get("block_floats"),
        }
        return fill("rows.cpp.jinja" if plan.rows else "columns.cpp.jinja", values)

    def _operand(self, operand: Operand) -> dict[str, object]:
        """An operand with whether it runs along the reduced axes and whether it is written after all rows."""
        plan = self.plan
        axes = [a for dim in operand.dims for a in dim]
        after = (
            operand.output and plan.scalar[plan.program.outputs[int(operand.name.removeprefix("out"))].number]
        )
        more = {name: getattr(operand, name) for name in ("rank", "ctype", "initializer")}
        return {**vars(operand), **more, "wide": plan.along(axes, plan.reduced_group), "scalar": after}

    def _plan_in_words(self) -> list[str]:
        kept = ", ".join(self.emitter.name(n) for n in self.emitter.kept) or "nothing"
        steps = [
            f"Pass {p}: {', '.join(self.emitter.name(n) for n in self.emitter.reductions(p))}."
            for p in range(1, self.plan.passes + 1)
        ]
        if any(self.plan.wide[o.number] for o in self.plan.program.outputs):
            steps.append("A last pass writes the outputs.")
        return [*steps, f"Kept in cache between passes: {kept}."]

    def _pass(self, number: int) -> dict[str, object]:
        emitter = self.emitter
        body = emitter.body(number, self._loads(), self._kept_at())
        return {
            "number": number,
            "running": emitter.running(number),
            "body": body + emitter.accumulate(number, masked=self.plan.rows),
            "known": self._known(number),
        }

    def _kept_at(self) -> str:
        return "i" if self.plan.rows else "r * width + c"

    def _loads(self) -> dict[int, str]:
        """How each wide leaf is read inside a pass."""
        found = {}
        for number, e in enumerate(self.plan.exprs):
            if e.leaf is None or not self.plan.wide[number]:
                continue
            name = self.plan.names[e.leaf]
            if e.leaf in self.plan.segmented:
                found[number] = f"broadcast({name} + s * {name}_step)"
            elif self.plan.rows:
                found[number] = f"load({name} + i, lanes)"
            elif self.plan.along(e.leaf.axes, self.plan.last):
                found[number] = f"load({name} + r * {name}_step + c, lanes)"
            else:
                found[number] = f"broadcast({name} + r * {name}_step)"
        return found

    def _known(self, depth: int) -> list[str]:
        """Statements that compute what is known per row or column after `depth` passes."""
        lines = []
        for number in self.emitter.known(depth):
            name, row = self.emitter.name(number), self.emitter.row
            target = f"{row}{name}" if row else f"const {self.emitter.type(number)} {name}"
            lines.append(f"{target} = {self._known_value(number)};")
        return lines

    def _known_value(self, number: int) -> str:
        e = self.plan.exprs[number]
        if e.kind == "reduce":
            return self._reduced(e, f"total{self.plan.depth[number]}.{self.emitter.name(number)}")
        if e.leaf is None:
            return self.emitter.operation(e, self.emitter.row)
        name, along = self.plan.names[e.leaf], self.plan.along(e.leaf.axes, self.plan.last)
        if e.kind == "pick":
            return self._picked(name, self.emitter.value(e.args[0], self.emitter.row), along)
        return f"load({name} + c, lanes)" if along and not self.plan.rows else f"broadcast({name})"

    def _picked(self, name: str, index: str, along: bool) -> str:
        if self.plan.rows:
            return f"splat(pick({name}, 0, 1, {index}, n, Tail{{1}})[0])"
        start, lane = (f"{name} + c", 1) if along else (name, 0)
        return f"pick({start}, {lane}, {name}_step, {index}, n, lanes)"

    def _reduced(self, e: Expr, total: str) -> str:
        if e.name in PLACES:
            return f"I{{}} + {total}.first()" if self.plan.rows else f"{total}.at"
        if e.name in IN_DOUBLE:
            return f"splat((float){IN_DOUBLE[e.name][1]}({total}))" if self.plan.rows else f"narrow({total})"
        return f"splat(across<{ACROSS[e.name]}>({total}))" if self.plan.rows else total

    def _row_outputs(self) -> list[str]:
        """Statements that write what is known per row or column: outputs, and what is reduced over all rows."""
        emitter, plan = self.emitter, self.plan
        lines = []
        for number in emitter.outers():
            (arg,) = plan.exprs[number].args
            value = emitter.value(arg, emitter.row)
            store = (
                f"*outer{number} = {value}[0];" if plan.rows else f"store(outer{number} + c, {value}, lanes);"
            )
            lines.append(store)
        for i, o in enumerate(plan.program.outputs):
            if not plan.wide[o.number] and not plan.scalar[o.number]:
                value = emitter.value(o.number, emitter.row)
                lines.append(f"*out{i} = {value}[0];" if plan.rows else f"store(out{i} + c, {value}, lanes);")
        return lines

    def _final(self, past_cache: list[str]) -> list[str]:
        last = self.plan.passes + 1
        lines = self.emitter.body(last, self._loads(), self._kept_at())
        place = "i" if self.plan.rows else None
        for i, o in enumerate(self.plan.program.outputs):
            if self.plan.wide[o.number]:
                at = place or f"r * out{i}_step + c"
                lines.append(written(f"out{i}", at, self.emitter.value(o.number), past_cache))
        return lines
