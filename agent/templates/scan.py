"""Running sums and products along one axis, forwards or backwards, with elementwise work before and after."""

from __future__ import annotations

from collections.abc import Mapping

from agent.templates.cost import Cost, of_one_pass
from agent.templates.elementwise import covers, known_before
from agent.templates.emit import Emitter
from agent.templates.expr import Unmatched
from agent.templates.plan import Plan, fill
from agent.templates.template import Choices, Match, Parameters, common, matched, streamed, written
from evaluator.problem.graph import Graph


class Scan:
    """One pass over memory: along rows where the last axis is scanned, else down blocks of columns."""

    name = "scan"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits where scans run along one axis, nothing is reduced, and outputs have the full shape."""
        try:
            match = matched(graphs)
            plan = Plan(match.program)
        except Unmatched:
            return None
        program = match.program
        if program.reduced or program.scanned is None:
            return None
        return match if all(covers(plan, o) for o in program.outputs) else None

    def choices(self, match: Match) -> Choices:
        """How outputs are stored; for rows vectors under way at once, for columns the most columns per block."""
        if _is_rows(Plan(match.program)):
            return {"store": ("cached", "streamed"), "unroll": (2, 1, 4)}
        return {"store": ("cached", "streamed"), "columns": (256, 64, 1024)}

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """Every tensor once; within a vector a scan takes a few operations per element."""
        return of_one_pass(Plan(match.program), match.sizes, parameters["store"] == "streamed")

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        plan = Plan(match.program)
        rows = _is_rows(plan)
        emitter = Emitter(plan, {}, scans="scans." if rows else "scans[c / W].")
        past_cache = streamed(plan.operands(), [True] * len(match.program.outputs), parameters)
        final = emitter.body(1, _loads(plan, rows), "")
        for i, o in enumerate(match.program.outputs):
            place = "i" if rows else f"r * out{i}_step + c"
            final.append(written(f"out{i}", place, emitter.value(o.number), past_cache))
        way = "backwards" if match.program.reverse else "forwards"
        steps = [f"{'Rows' if rows else 'Blocks of columns'} go to threads; each is walked once, {way}."]
        scans = [(e.name, emitter.name(n)) for n, e in enumerate(plan.exprs) if e.kind == "scan"]
        values = {
            **common(plan, "A scan with the work around it, fused.", match, parameters, steps),
            "rows": rows,
            "reverse": match.program.reverse,
            "scan_group": _group(plan),
            "scans": [
                {"type": f"{'Row' if rows else 'Column'}<{_PRODUCT[name]}>", "name": n} for name, n in scans
            ],
            "known_before": known_before(emitter),
            "final": final,
            "streamed": past_cache,
            "slots": len(plan.operands()) + 1,
            "unroll": parameters.get("unroll"),
            "columns": parameters.get("columns"),
        }
        return fill("scan.cpp.jinja", values)


_PRODUCT = {"cumsum": "false", "cumprod": "true"}


def _group(plan: Plan) -> int:
    assert plan.program.scanned is not None
    return plan.group_of[plan.program.scanned]


def _is_rows(plan: Plan) -> bool:
    return _group(plan) == plan.last


def _loads(plan: Plan, rows: bool) -> dict[int, str]:
    """How each tensor that varies inside the loop is read."""
    found = {}
    for number, e in enumerate(plan.exprs):
        if e.leaf is None or not plan.wide[number]:
            continue
        name = plan.names[e.leaf]
        if rows:
            found[number] = f"load({name} + i, lanes)"
        elif plan.along(e.leaf.axes, plan.last):
            found[number] = f"load({name} + r * {name}_step + c, lanes)"
        else:
            found[number] = f"broadcast({name} + r * {name}_step)"
    return found
