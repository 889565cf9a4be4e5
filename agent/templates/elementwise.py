"""Any graph of elementwise float32 operations with broadcasting, as one pass over memory."""

from __future__ import annotations

from collections.abc import Mapping

from agent.templates.cost import Cost, of_one_pass
from agent.templates.emit import Emitter
from agent.templates.expr import Unmatched
from agent.templates.lower import Output
from agent.templates.plan import Plan, fill
from agent.templates.template import Choices, Match, Parameters, common, matched, streamed, written
from evaluator.problem.graph import Graph


class Elementwise:
    """One loop over the last group of axes; every output has the full shape."""

    name = "elementwise"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits where nothing is reduced and every output covers every axis."""
        try:
            match = matched(graphs, by_output=True)
            plan = Plan(match.program, crosswise=True)
        except Unmatched:
            return None
        program = match.program
        if program.reduced or program.scanned is not None or not program.outputs:
            return None
        if not program.space or plan.cross is not None:
            return None
        return match if all(covers(plan, o) for o in program.outputs) else None

    def choices(self, match: Match) -> Choices:
        """How outputs are stored, elements per piece of work, vectors under way at once."""
        return {"store": ("cached", "streamed"), "unroll": (2, 1, 4), "chunk": (1 << 14, 1 << 17)}

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """Every tensor once, every operation once."""
        return of_one_pass(
            Plan(match.program, crosswise=True), match.sizes, parameters["store"] == "streamed"
        )

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        plan = Plan(match.program, crosswise=True)
        emitter = Emitter(plan, {})
        operands = plan.operands()
        past_cache = streamed(operands, [True] * len(match.program.outputs), parameters)
        loads = {
            i: f"load({plan.names[e.leaf]} + i, lanes)"
            for i, e in enumerate(plan.exprs)
            if e.leaf is not None and plan.wide[i]
        }
        final = emitter.body(1, loads, "i")
        for i, o in enumerate(match.program.outputs):
            final.append(written(f"out{i}", "i", emitter.value(o.number), past_cache))
        steps = ["Pieces of the last axes go to threads; broadcast operands are read once per piece."]
        values = {
            **common(plan, "Elementwise operations in one pass over memory.", match, parameters, steps),
            "known_before": known_before(emitter),
            "final": final,
            "streamed": past_cache,
            "unroll": parameters["unroll"],
            "chunk": parameters["chunk"],
        }
        return fill("elementwise.cpp.jinja", values)


def covers(plan: Plan, output: Output) -> bool:
    """Whether an output has every axis, in order."""
    return output.axes == tuple(a for a in range(plan.axes) if a in output.axes) and {
        plan.group_of[a] for a in output.axes
    } == set(range(plan.groups))


def known_before(emitter: Emitter) -> list[str]:
    """Statements that compute what does not vary along the last axes."""
    lines = []
    for number in emitter.known(0):
        e = emitter.plan.exprs[number]
        value = emitter.operation(e) if e.leaf is None else f"broadcast({emitter.plan.names[e.leaf]})"
        lines.append(f"const {emitter.type(number)} {emitter.name(number)} = {value};")
    return lines
