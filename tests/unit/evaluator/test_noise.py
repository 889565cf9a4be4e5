"""By how much equal things differ. The calls here take what the test says."""

from __future__ import annotations

import itertools

import pytest

from evaluator.judge.noise import LEAST_NOISE, PAIRS, ratios, width


def test_runners_of_the_same_operation_are_compared_and_let_go(local):
    turns = itertools.count()
    local.nanoseconds["candidate"] = lambda: 1_000_000 + next(turns) % 2
    found = ratios(local.seat, 1, restarts=2)
    assert found == [pytest.approx(1.0, abs=1e-5)] * 2
    assert local.started == ["candidate"] * 4


def test_disturbed_pairs_do_not_count(local):
    calls = itertools.count()
    local.nanoseconds["candidate"] = lambda: 9_000_000 if next(calls) % 6 == 0 else 1_000_000
    local.disturbed = lambda who: (next(calls) - 1) % 6 == 0
    (found,) = ratios(local.seat, 1, restarts=1)
    assert found == pytest.approx(1.0)
    assert PAIRS >= 10


def test_the_width_is_the_largest_deviation_either_way_and_never_nothing():
    assert width([1.0, 0.99, 1.001]) == LEAST_NOISE
    assert width([1.0, 0.9]) == pytest.approx(0.105, abs=1e-3)
    assert width([1.2, 0.9]) == pytest.approx(0.182, abs=1e-3)
