"""Any graph of elementwise float32 operations with broadcasting, as one pass over memory."""

from __future__ import annotations

from collections.abc import Mapping

from agent.templates.emit import Emitter
from agent.templates.expr import Unmatched
from agent.templates.lower import lower_all
from agent.templates.plan import Plan, describe, fill
from agent.templates.template import Choices, Match, Parameters, streamed, written
from evaluator.problem.graph import Graph


class Elementwise:
    """One loop over the last group of axes; every output has the full shape."""

    name = "elementwise"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits where nothing is reduced and every output covers every axis."""
        try:
            program = lower_all(graphs)
            plan = Plan(program)
        except Unmatched:
            return None
        full = all(set(range(plan.axes)) == set(axes) and plan.wide[n] for n, axes in program.outputs)
        if program.reduced or not program.space or not program.outputs or not full:
            return None
        return Match(program, tuple(describe(next(iter(graphs.values())))))

    def choices(self, match: Match) -> Choices:
        """How outputs are stored, elements per piece of work, vectors under way at once."""
        return {"store": ("cached", "streamed"), "unroll": (2, 1, 4), "chunk": (1 << 14, 1 << 17)}

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        plan = Plan(match.program)
        emitter = Emitter(plan, {})
        operands = plan.operands()
        past_cache = streamed(operands, [True] * len(match.program.outputs), parameters)
        load = {
            i: f"load({plan.names[e.leaf]} + i, lanes)"
            if plan.along(e.leaf.axes, plan.last)
            else f"splat(*{plan.names[e.leaf]})"
            for i, e in enumerate(plan.exprs)
            if e.leaf is not None
        }
        final = emitter.body(1, load, "i")
        for i, (number, _) in enumerate(match.program.outputs):
            final.append(written(f"out{i}", "i", emitter.value(number), past_cache))
        return fill(
            "elementwise.cpp.jinja",
            {
                "title": "Elementwise operations in one pass over memory.",
                "description": match.description,
                "plan": [
                    "Pieces of the last axes go to threads; broadcast operands are read once per piece."
                ],
                "functions": plan.functions(),
                "axes": plan.axes,
                "group_of": plan.group_of,
                "group_count": plan.groups,
                "operands": operands,
                "slots": len(operands),
                "final": final,
                "stream": bool(past_cache),
                "streamed": past_cache,
                "unroll": parameters["unroll"],
                "chunk": parameters["chunk"],
            },
        )
