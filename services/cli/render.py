"""Results as a person reads them: rich tables. Foreign text is cleaned before it gets here or here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent.api import Attempt
from agent.lineage import parents
from evaluator.evaluation import Evaluation, GateState, Timing, Verdict
from services.figures import MISSING, duration, ratio
from services.standing import standing
from services.text import line

PIPE_WIDTH = 170
FIXED_COLUMNS = 86
"""What number, parents, proposer, verdict, speedup and confirmation of an attempt take."""
STATES = {GateState.PASSED: "green", GateState.FAILED: "bold red", GateState.NOT_RUN: "dim"}


def console(as_json: bool) -> Console:
    """Where people read results: standard output, or standard error where that is a machine's.

    A pipe has no width: it gets a wide one instead of the 80 columns that rich assumes.
    """
    stream = sys.stderr if as_json else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(file=stream, highlight=False, width=width)


def verdict(value: Verdict) -> Text:
    """The verdict, coloured; the word alone tells it too."""
    return Text(value.value, style="bold green" if value is Verdict.ACCEPTED else "bold red")


def evaluation(judged: Evaluation) -> RenderableType:
    """One evaluation: verdict, gates, times."""
    head = Text.assemble(verdict(judged.verdict), "  ", line(judged.reason, 400))
    parts: list[RenderableType] = [head, gates(judged)]
    if judged.timing is not None:
        parts.append(times(judged.timing))
    if judged.verdict is Verdict.ACCEPTED and not judged.promotable:
        parts.append(
            Text(
                "Not promotable: a mandatory gate did not run, a baseline could not run, weights were not taken, or a "
                "guarantee of the sandbox does not hold here (kernelwright doctor); "
                "see the gates' evidence in --json.",
                style="yellow",
            )
        )
    return Group(*parts)


def gates(judged: Evaluation) -> Table:
    """Every gate that was run, or failed; the others in one row."""
    table = Table("gate", "state", "reason", box=None, pad_edge=False)
    idle = [g.value for g, r in judged.gates.items() if r.state is GateState.NOT_RUN]
    for gate, result in judged.gates.items():
        if result.state is not GateState.NOT_RUN:
            state = Text(result.state.value, style=STATES[result.state])
            table.add_row(gate.value, state, Text(line(result.reason, 160)))
    if idle:
        table.add_row(Text("others", style="dim"), Text("not_run", style="dim"), Text(", ".join(idle), "dim"))
    return table


def times(timing: Timing) -> Table:
    """Time per call by workload, and the speedup against the strongest baseline."""
    names = sorted({b for w in timing.workloads for b in w.baselines})
    table = Table("workload", "candidate", *names, "speedup", box=None, pad_edge=False)
    for w in timing.workloads:
        baselines = [duration(w.baselines[b].value) if b in w.baselines else MISSING for b in names]
        table.add_row(Text(line(w.workload, 40)), duration(w.candidate.value), *baselines, ratio(w.speedup))
    table.add_row("all, by weight", "", *("" for _ in names), Text(ratio(timing.speedup), style="bold"))
    return table


def attempts(
    made: Sequence[Attempt], reasons: Mapping[int, str], best: Attempt | None, floor: float, width: int
) -> Table:
    """A job's attempts, by number, one line each on a console of `width` columns.

    floor: the contract's, which decides whether a confirmation held.
    """
    table = Table(
        "#",
        "from",
        "proposer",
        "verdict",
        "speedup",
        "confirmation",
        "idea",
        "reason",
        box=None,
        pad_edge=False,
    )
    room = max(16, (width - FIXED_COLUMNS) // 2 - 2)
    origins = parents(made)
    for attempt in made:
        judged = attempt.evaluation
        why = judged.reason if judged else reasons.get(attempt.number, "")
        table.add_row(
            str(attempt.number),
            ", ".join(map(str, origins.get(attempt.number, ()))),
            attempt.proposal.proposer,
            verdict(judged.verdict) if judged else Text(attempt.state.value, style="dim"),
            ratio(judged.timing.speedup if judged and judged.timing else None),
            standing(attempt, floor),
            Text(line(attempt.proposal.idea, room)),
            Text(line(why, room)),
            style="bold" if best is not None and attempt.number == best.number else "",
        )
    return table
