"""From paired samples to intervals: known ratios are found, noise makes intervals wide, equal samples give one."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.statistics import interval, median_interval, speedup_intervals

Blocks = list[list[tuple[float, float]]]


def blocks(ratio: float, noise: float, seed: int = 1, restarts: int = 3, pairs: int = 12) -> Blocks:
    """Pairs whose true ratio is `ratio`, both sides with log-normal noise."""
    chance = random.Random(seed)

    def once() -> tuple[float, float]:
        return ratio * 1e-3 * math.exp(chance.gauss(0, noise)), 1e-3 * math.exp(chance.gauss(0, noise))

    return [[once() for _ in range(pairs)] for _ in range(restarts)]


def test_equal_samples_give_exactly_one() -> None:
    rows, mean = speedup_intervals({"a": [[(2e-3, 2e-3)] * 5] * 3}, {"a": 1.0}, 1)
    assert (rows["a"].low, rows["a"].value, rows["a"].high) == (1.0, 1.0, 1.0)
    assert mean == rows["a"]


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.3, 8.0])
def test_a_known_ratio_is_recovered_inside_its_interval(ratio: float) -> None:
    rows, mean = speedup_intervals({"a": blocks(ratio, 0.02)}, {"a": 1.0}, 1)
    assert rows["a"].value == pytest.approx(ratio, rel=0.02)
    assert rows["a"].low <= ratio <= rows["a"].high
    assert rows["a"].high / rows["a"].low < 1.1
    assert mean.value == pytest.approx(rows["a"].value)


def test_most_intervals_of_many_experiments_contain_the_truth() -> None:
    found = [speedup_intervals({"a": blocks(1.2, 0.05, s)}, {"a": 1.0}, s)[1] for s in range(40)]
    assert sum(i.low <= 1.2 <= i.high for i in found) >= 32


def test_more_noise_means_a_wider_interval() -> None:
    calm, wild = (speedup_intervals({"a": blocks(1.2, n)}, {"a": 1.0}, 1)[1] for n in (0.01, 0.2))
    assert wild.high - wild.low > 3 * (calm.high - calm.low)


def test_restarts_that_disagree_widen_the_interval_though_each_is_calm() -> None:
    disagreeing = [[(r * 1e-3, 1e-3)] * 12 for r in (1.0, 1.2, 1.4)]
    mean = speedup_intervals({"a": disagreeing}, {"a": 1.0}, 1)[1]
    assert mean.low < 1.1
    assert mean.high > 1.3


def test_one_outlier_among_the_pairs_moves_little() -> None:
    spoiled = blocks(1.2, 0.01)
    spoiled[0][0] = (1.0, 1e-3)
    assert speedup_intervals({"a": spoiled}, {"a": 1.0}, 1)[1].value == pytest.approx(1.2, rel=0.02)


def test_the_mean_is_geometric_and_weighted() -> None:
    samples = {"a": [[(4e-3, 1e-3)] * 5] * 3, "b": [[(1e-3, 1e-3)] * 5] * 3}
    assert speedup_intervals(samples, {"a": 1.0, "b": 1.0}, 1)[1].value == pytest.approx(2.0)
    assert speedup_intervals(samples, {"a": 3.0, "b": 1.0}, 1)[1].value == pytest.approx(4**0.75)
    assert speedup_intervals(samples, {"a": 30.0, "b": 10.0}, 1)[1].value == pytest.approx(4**0.75)


def test_a_seed_decides_the_resampling() -> None:
    samples = {"a": blocks(1.2, 0.1)}
    assert speedup_intervals(samples, {"a": 1.0}, 5) == speedup_intervals(samples, {"a": 1.0}, 5)
    assert speedup_intervals(samples, {"a": 1.0}, 5) != speedup_intervals(samples, {"a": 1.0}, 6)


def test_the_median_time_has_an_interval_around_it() -> None:
    chance = random.Random(1)
    found = median_interval(
        [[1e-3 * math.exp(chance.gauss(0, 0.02)) for _ in range(12)] for _ in range(3)], 1
    )
    assert found.value == pytest.approx(1e-3, rel=0.02)
    assert found.low < found.value < found.high
    assert median_interval([[2.0]], 1).low == 2.0


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=50), st.floats(0.1, 10))
def test_an_interval_contains_its_estimate_and_lies_within_all_values(
    values: list[float], estimate: float
) -> None:
    found = interval(values, estimate)
    assert found.low <= found.value <= found.high
    assert min(*values, estimate) <= found.low
    assert found.high <= max(*values, estimate)
