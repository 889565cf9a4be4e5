"""Times per workload as bars with intervals: the candidate and every baseline on one scale per workload."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.evaluation import Interval, Timing, WorkloadTiming
from services.figures import duration

TRACK = 100.0
"""A bar's longest length, in per cent of its track."""


@dataclass(frozen=True)
class Bar:
    """One measured side: its time, its length and its interval's ends in per cent of the track."""

    name: str
    kind: str  # "candidate", "strongest" or "baseline"
    time: str
    interval: str
    length: float
    low: float
    high: float


@dataclass(frozen=True)
class WorkloadBars:
    """A workload's bars, the candidate first."""

    workload: WorkloadTiming
    bars: tuple[Bar, ...]


def time_bars(timing: Timing) -> tuple[WorkloadBars, ...]:
    """Bars for every workload, in order."""
    return tuple(WorkloadBars(w, _bars(w)) for w in timing.workloads)


def _bars(workload: WorkloadTiming) -> tuple[Bar, ...]:
    longest = max(i.high for i in (workload.candidate, *workload.baselines.values()))
    sides = [_bar("candidate", "candidate", workload.candidate, longest)]
    for name, interval in sorted(workload.baselines.items()):
        kind = "strongest" if name == workload.strongest else "baseline"
        sides.append(_bar(name, kind, interval, longest))
    return tuple(sides)


def _bar(name: str, kind: str, time: Interval, longest: float) -> Bar:
    def share(seconds: float) -> float:
        return round(TRACK * seconds / longest, 2)

    interval = f"{duration(time.low)} to {duration(time.high)}"
    return Bar(
        name, kind, duration(time.value), interval, share(time.value), share(time.low), share(time.high)
    )
