"""Pooling, and convolutions of each channel with a filter of its own, with elementwise work behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from agent.templates.cost import NOTHING, Cost, of_one_pass
from agent.templates.elementwise import Elementwise, known_before
from agent.templates.emit import Emitter
from agent.templates.expr import Unmatched
from agent.templates.plan import Plan, describe, fill
from agent.templates.template import Choices, Match, Parameters, common, written
from agent.templates.window import WINDOW, Window, cut
from evaluator.problem.graph import Graph


class Windowed:
    """One plane (a sequence, an image or a volume of one channel) at a time: its rows, padded and taken apart by the
    stride, are read window element by window element, sixteen windows at once."""

    name = "windowed"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits one operation over windows of a tensor of the call, and elementwise work on its result."""
        try:
            cuts = {name: cut(graph) for name, graph in graphs.items()}
        except Unmatched:
            return None
        windows = {c.window for c in cuts.values()}
        match = Elementwise().match({name: c.rest for name, c in cuts.items()})
        if match is None or len(windows) != 1 or not _is_planes(match, next(iter(windows))):
            return None
        description = tuple(describe(next(iter(graphs.values()))))
        (window,) = windows
        read = (v for g in graphs.values() for v in (*g.inputs, *g.parameters) if v.id == window.source)
        extra = sum((Cost(4.0 * math.prod(v.shape), 0.0) for v in read), NOTHING)
        return replace(match, window=window, description=description, extra=extra)

    def choices(self, match: Match) -> Choices:
        """Vectors of windows under way at once."""
        return {"unroll": (2, 1, 4)}

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """Every tensor once, every element of every window once."""
        taps = 2 * math.prod(_window(match).size)
        return of_one_pass(_plan(match), match.sizes, streamed=True, more=taps) + match.extra

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        plan, window = _plan(match), _window(match)
        emitter = Emitter(plan, {})
        loads = {
            i: "window" if e.leaf.source == WINDOW else f"load({plan.names[e.leaf]} + place, lanes)"
            for i, e in enumerate(plan.exprs)
            if e.leaf is not None and plan.wide[i]
        }
        final = emitter.body(1, loads, "")
        for i, o in enumerate(match.program.outputs):
            final.append(written(f"out{i}", "place", emitter.value(o.number), []))
        steps = [f"Planes go to threads. {_spoken(window)}"]
        deep = _lifted(window)
        values = {
            **common(
                plan, "An operation over small windows, with the work behind it.", match, parameters, steps
            ),
            "operands": [o for o in plan.operands() if o.tensor != WINDOW],
            "learn_outputs": True,
            "rank": 2 + window.rank,
            "source": plan.tensor(window.source),
            "weight": plan.tensor(window.weight) if window.weight else None,
            "kind": window.kind,
            "size": deep.size,
            "stride": deep.stride,
            "padding": deep.padding,
            "dilation": deep.dilation,
            "divisor": window.divisor,
            "known_before": known_before(emitter),
            "final": final,
            "slots": len(plan.operands()) + 3,
            "unroll": parameters["unroll"],
        }
        return fill("windowed.cpp.jinja", values)


def _plan(match: Match) -> Plan:
    return Plan(match.program, crosswise=True, apart=2)


def _window(match: Match) -> Window:
    assert match.window is not None
    return match.window


def _is_planes(match: Match, window: Window) -> bool:
    """Whether the last group is just what a window moves over, and each output is made of whole such planes."""
    plan = _plan(match)
    planes = tuple(range(2, 2 + window.rank))
    if plan.axes != 2 + window.rank:
        return False
    in_order = all(o.dims == tuple((a,) for a in range(2 + window.rank)) for o in match.program.outputs)
    return in_order and {plan.group_of[a] for a in planes} == {plan.last} and plan.groups > 1


def _lifted(window: Window) -> Window:
    """The same over volumes, of depth and height 1 where the window has none."""
    more = 3 - window.rank
    return replace(
        window,
        size=(*(1,) * more, *window.size),
        stride=(*(1,) * more, *window.stride),
        padding=(*(0,) * more, *window.padding),
        dilation=(*(1,) * more, *window.dilation),
    )


def _spoken(window: Window) -> str:
    size = " by ".join(map(str, window.size))
    return f"Windows of {size}, stride {window.stride}, padding {window.padding}, dilation {window.dilation}."
