"""From paired samples to speedups with intervals: a bootstrap over runner restarts, then over pairs within one."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence

from evaluator.evaluation import Interval

RESAMPLES = 1000
COVERAGE = 0.95

Pairs = Sequence[tuple[float, float]]
"""(baseline seconds, candidate seconds) of the valid pairs of one restart."""


def interval(values: Sequence[float], estimate: float) -> Interval:
    """The percentile interval of bootstrap `values` around an estimate, widened to contain it."""
    ordered = sorted(values)
    tail = (1 - COVERAGE) / 2
    low = ordered[int(tail * (len(ordered) - 1))]
    high = ordered[math.ceil((1 - tail) * (len(ordered) - 1))]
    return Interval(estimate, min(low, estimate), max(high, estimate))


def speedup_intervals(
    samples: Mapping[str, Sequence[Pairs]], weights: Mapping[str, float], seed: int
) -> tuple[dict[str, Interval], Interval]:
    """Per workload, and their weighted geometric mean: baseline's median over candidate's, with intervals.

    `samples[workload][restart]` are pairs; restarts are shared by all workloads and resampled together. The
    estimate of one restart is the median of the log ratios of its pairs; of a workload, their mean.
    """
    chance = random.Random(seed)
    restarts = len(next(iter(samples.values())))
    logs = {w: [[math.log(b / c) for b, c in pairs] for pairs in blocks] for w, blocks in samples.items()}
    estimates = {w: statistics.fmean(map(statistics.median, blocks)) for w, blocks in logs.items()}
    drawn: dict[str, list[float]] = {w: [] for w in logs}
    means: list[float] = []
    for _ in range(RESAMPLES):
        chosen = [chance.randrange(restarts) for _ in range(restarts)]
        once = {w: _resampled(blocks, chosen, chance) for w, blocks in logs.items()}
        for w, value in once.items():
            drawn[w].append(math.exp(value))
        means.append(math.exp(_weighted(once, weights)))
    per_workload = {w: interval(drawn[w], math.exp(estimates[w])) for w in logs}
    return per_workload, interval(means, math.exp(_weighted(estimates, weights)))


def median_interval(blocks: Sequence[Sequence[float]], seed: int) -> Interval:
    """The median time over restarts, with its bootstrap interval."""
    chance = random.Random(seed)
    estimate = statistics.fmean(map(statistics.median, blocks))
    drawn = []
    for _ in range(RESAMPLES // 4):
        chosen = [chance.randrange(len(blocks)) for _ in blocks]
        drawn.append(_resampled(blocks, chosen, chance))
    return interval(drawn, estimate)


def _resampled(blocks: Sequence[Sequence[float]], chosen: Sequence[int], chance: random.Random) -> float:
    return statistics.fmean(statistics.median(chance.choices(blocks[r], k=len(blocks[r]))) for r in chosen)


def _weighted(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights[w] * v for w, v in values.items()) / sum(weights[w] for w in values)
