"""From valid samples to a Timing: medians, the strongest baseline, speedups with intervals, and what is no score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluator.evaluation import Interval, Timing, WorkloadTiming
from evaluator.judge.cases import Case
from evaluator.judge.statistics import median_interval, speedup_intervals


@dataclass
class Samples:
    """Valid times of one workload in one restart, by contestant, pair by pair; and how many pairs were voided."""

    candidate: list[float] = field(default_factory=list)
    baselines: dict[str, list[float]] = field(default_factory=dict)
    voided: int = 0


Restart = Mapping[str, Samples]
"""Workload → samples."""


@dataclass(frozen=True)
class Conditions:
    """What a Timing says of how time was taken."""

    mode: str
    threads: int
    resolution: float
    constant: float


def summarise(
    cases: Sequence[Case], restarts: Sequence[Restart], conditions: Conditions, seed: int
) -> Timing:
    """The Timing of valid restarts, each with all workloads and the same baselines."""
    candidate = {c.name: median_interval([r[c.name].candidate for r in restarts], seed) for c in cases}
    baselines = {c.name: _baselines([r[c.name].baselines for r in restarts], seed) for c in cases}
    strongest = {case: min(found, key=lambda n: found[n].value) for case, found in baselines.items()}
    pairs = {
        case: [list(zip(r[case].baselines[best], r[case].candidate, strict=True)) for r in restarts]
        for case, best in strongest.items()
    }
    speedups, overall = speedup_intervals(pairs, {c.name: c.weight for c in cases}, seed)
    rows = tuple(
        WorkloadTiming(
            workload=c.name,
            weight=c.weight,
            candidate=candidate[c.name],
            baselines=baselines[c.name],
            strongest=strongest[c.name],
            speedup=speedups[c.name],
            samples=sum(len(r[c.name].candidate) for r in restarts),
            voided=sum(r[c.name].voided for r in restarts),
        )
        for c in cases
    )
    return Timing(
        way="released calls",
        mode=conditions.mode,
        threads=conditions.threads,
        resolution=conditions.resolution,
        constant=conditions.constant,
        restarts=len(restarts),
        workloads=rows,
        speedup=overall,
    )


def _baselines(restarts: Sequence[Mapping[str, Sequence[float]]], seed: int) -> dict[str, Interval]:
    return {name: median_interval([r[name] for r in restarts], seed) for name in restarts[0]}
