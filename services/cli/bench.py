"""`kernelwright bench evaluator`: what the evaluator itself takes, and how well it tells equal things to be equal."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rich.table import Table

from evaluator.canonical import plain
from evaluator.evaluation import Evaluation, Interval, Verdict
from evaluator.problem.contract import Problem
from evaluator.problem.load import load_candidate, load_problem
from services.cli import render
from services.cli.calibrate import rows
from services.cli.failures import FOUND, NOT_FOUND
from services.cli.output import Output
from services.figures import ratio
from services.workshop import Evaluator, Workshop

POLICY = "search"
RUNS = 5
HOUR = 3600.0


@dataclass(frozen=True)
class Run:
    """One evaluation and the seconds it took."""

    seconds: float
    judged: Evaluation


def bench(workshop: Workshop, out: Output, runs: int = RUNS) -> int:
    """Judge a shipped candidate again and again, then the reference as its own candidate; 1 where one is refused."""
    folder = resources.files("services.cli") / "samples"
    with resources.as_file(folder) as samples, workshop.evaluator(out.say) as evaluator:
        problem = load_problem(samples / "softmax.py")
        made = _judge(evaluator, problem, samples / "softmax.cpp", 1 + runs, out)
        (same,) = _judge(evaluator, problem, samples / "same.py", 1, out)
        calibration = evaluator.calibration
        machine = evaluator.machine
    warm = made[1:]
    equal = same.judged.timing.speedup if same.judged.timing else None
    render.console(out.as_json).print(_table(warm, equal, rows(calibration)))
    out.result(
        {
            "verdicts_per_hour": HOUR / _median(warm),
            "seconds": {"first": made[0].seconds, "warm": [r.seconds for r in warm]},
            "seconds_by_gate": gates(warm),
            "equal": plain(equal),
            "calibration": calibration.to_json(),
            "machine": dict(machine),
        }
    )
    return FOUND if all(r.judged.verdict is Verdict.ACCEPTED for r in (*made, same)) else NOT_FOUND


def gates(runs: Sequence[Run]) -> dict[str, float]:
    """The median seconds of every gate that ran."""
    names = runs[0].judged.stages
    return {name: statistics.median(r.judged.stages.get(name, 0.0) for r in runs) for name in names}


def _judge(evaluator: Evaluator, problem: Problem, candidate: Path, times: int, out: Output) -> list[Run]:
    runs = []
    for _ in range(times):
        start = time.perf_counter()
        judged = evaluator.evaluate(problem, load_candidate(candidate), POLICY)
        runs.append(Run(time.perf_counter() - start, judged))
        out.say(
            f"{candidate.name}: {judged.verdict.value} after {runs[-1].seconds:.1f} s {judged.reason}".rstrip()
        )
    return runs


def _median(runs: Sequence[Run]) -> float:
    return statistics.median(r.seconds for r in runs)


def _table(warm: Sequence[Run], equal: Interval | None, calibrated: Sequence[tuple[str, str]]) -> Table:
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_row("verdicts an hour, warm", f"{HOUR / _median(warm):.0f}")
    for name, seconds in gates(warm).items():
        shown.add_row(f"  {name}", f"{seconds:.2f} s")
    shown.add_row("the reference against itself", ratio(equal))
    for name, value in calibrated:
        shown.add_row(name, value)
    return shown
