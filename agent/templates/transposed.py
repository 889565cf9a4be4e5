"""Permutations of axes, with elementwise work on the way: what is read along one axis is written along another."""

from __future__ import annotations

from collections.abc import Mapping

from agent.templates.cost import Cost, of_one_pass
from agent.templates.elementwise import covers, known_before
from agent.templates.emit import Emitter
from agent.templates.expr import Unmatched
from agent.templates.plan import Plan, fill
from agent.templates.template import Choices, Match, Parameters, common, matched, streamed, written
from evaluator.problem.graph import Graph


class Transposed:
    """Tiles of 16 by 16 elements are turned around in registers."""

    name = "transposed"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits elementwise graphs where some tensor's last axis is another one than the output's."""
        try:
            match = matched(graphs, by_output=True)
            plan = Plan(match.program, crosswise=True)
        except Unmatched:
            return None
        program = match.program
        if program.reduced or program.scanned is not None or plan.cross is None or not program.outputs:
            return None
        return match if all(covers(plan, o) for o in program.outputs) else None

    def choices(self, match: Match) -> Choices:
        """How outputs are stored; the sides of a piece of work, across and along the output's last axis."""
        return {"store": ("cached", "streamed"), "across": (64, 16, 256), "along": (64, 16, 256)}

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """Every tensor once, every operation once."""
        return of_one_pass(
            Plan(match.program, crosswise=True), match.sizes, parameters["store"] == "streamed"
        )

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        plan = Plan(match.program, crosswise=True)
        emitter = Emitter(plan, {})
        past_cache = streamed(plan.operands(), [True] * len(match.program.outputs), parameters)
        final = emitter.body(1, _loads(plan), "")
        for i, o in enumerate(match.program.outputs):
            place = f"i * out{i}_step + j"
            final.append(written(f"out{i}", place, emitter.value(o.number), past_cache))
        values = {
            **common(plan, "Axes in another order, in one pass over memory.", match, parameters, [STEPS]),
            "known_before": known_before(emitter),
            "final": final,
            "crosswise": [plan.names[leaf] for leaf in plan.leaves if plan.is_crosswise(leaf)],
            "streamed": past_cache,
            "across": parameters["across"],
            "along_last": parameters["along"],
        }
        return fill("transposed.cpp.jinja", values)


STEPS = "Tiles of 16 by 16 are read along one axis, turned around in registers and written along the other."


def _loads(plan: Plan) -> dict[int, str]:
    """How each tensor that varies inside a tile is read, for 16 elements of one line of the output."""
    found = {}
    for number, e in enumerate(plan.exprs):
        if e.leaf is None or not plan.wide[number]:
            continue
        name = plan.names[e.leaf]
        if plan.is_crosswise(e.leaf):
            found[number] = f"{name}_tile[u]"
        elif plan.along(e.leaf.axes, plan.last):
            found[number] = f"load({name} + i * {name}_step + j, lanes)"
        else:
            found[number] = f"broadcast({name} + i * {name}_step)"
    return found
