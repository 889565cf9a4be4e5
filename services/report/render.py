"""Filling the page's template. Everything foreign is cleaned here and escaped there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from agent.api import Attempt
from agent.confirmation import is_confirmed
from agent.lineage import ancestry, parents
from evaluator.canonical import plain
from evaluator.evaluation import Evaluation, GateState
from services.db.jobs import JobRecord
from services.figures import duration, ratio, span
from services.report.progress_plot import progress_plot
from services.report.source import highlighted, style_sheet
from services.report.time_bars import time_bars
from services.standing import sentence, standing
from services.text import clean, line

MAX_EVIDENCE = 6000


def render_report(
    record: JobRecord, attempts: Sequence[Attempt], reasons: Mapping[int, str], best: Attempt | None
) -> str:
    """The report as HTML: no script, nothing loaded from elsewhere.

    reasons: why attempts were put back or abandoned, by number. best: the attempt to show in full.
    """
    judged = (best.confirmation or best.evaluation) if best else None
    problem = record.job.problem
    floor = problem.contract.floor
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            record=record,
            job=record.job,
            problem=problem,
            contract=problem.contract,
            attempts=attempts,
            reasons=reasons,
            best=best,
            judged=judged,
            found=best is not None and is_confirmed(best, floor),
            sentence=sentence(attempts, best, floor),
            standings={a.number: standing(a, floor) for a in attempts},
            parents=parents(attempts),
            lineage=[a for a in attempts if best and a.number in ancestry(attempts, best.number)],
            verdicts=Counter(a.evaluation.verdict.value if a.evaluation else a.state.value for a in attempts),
            plot=progress_plot(attempts),
            bars=time_bars(judged.timing) if judged and judged.timing else (),
            gates=_gates(judged or _latest(attempts)),
            shown=judged or _latest(attempts),
            code_style=style_sheet(),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("services", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clean": clean,
        "line": line,
        "duration": duration,
        "ratio": ratio,
        "span": span,
        "evidence": _evidence,
        "pairs": _pairs,
        "highlighted": lambda source, name: highlighted(name, source),
    }
    return environment


def _latest(attempts: Sequence[Attempt]) -> Evaluation | None:
    """The last evaluation made: what to show of gates and machine where nothing was accepted."""
    return next((a.evaluation for a in reversed(attempts) if a.evaluation), None)


def _gates(judged: Evaluation | None) -> Sequence[tuple[str, object]]:
    """Gates that were run first, in order of cost, then those that were not."""
    if judged is None:
        return ()
    rows = [(gate.value, result) for gate, result in judged.gates.items()]
    return sorted(rows, key=lambda row: row[1].state is GateState.NOT_RUN)


def _evidence(value: object) -> str:
    """JSON data as indented text."""
    return clean(json.dumps(plain(value), indent=2, ensure_ascii=False), MAX_EVIDENCE)


def _pairs(value: Mapping[str, object]) -> str:
    """A small mapping on one line: a=1, b=2."""
    return line(", ".join(f"{k}={v}" for k, v in value.items()), 300)
