"""What doing nothing costs, and what follows from it. The calls here take what the test says."""

from __future__ import annotations

import itertools
import json

import pytest

from evaluator.judge.calibration import (
    LEAST_RESOLUTION,
    NOOP_CALLS,
    SHARE_TO_GAIN,
    Calibration,
    Cost,
    call_costs,
    from_costs,
    unguarded,
)
from evaluator.judge.ceilings import Bandwidth, Ceilings

COSTS = {"functional": Cost(12e-6, 13e-6, 18e-6), "destination": Cost(8e-6, 9e-6, 20e-6)}


def test_the_constant_is_what_native_code_needs_not_our_runner():
    found = from_costs(COSTS, 0.03, None)
    assert (found.functional, found.destination, found.noise) == (12e-6, 8e-6, 0.03)


def test_who_replaced_the_runner_s_loop_gains_no_more_than_the_share_in_doubt():
    found = from_costs(COSTS, 0.03, None)
    gained = max(c.ours - c.native for c in COSTS.values())
    assert gained / found.resolution <= SHARE_TO_GAIN + 1e-9


def test_a_runner_as_fast_as_native_code_leaves_the_least_resolution():
    costs = dict.fromkeys(COSTS, Cost(9e-6, 10e-6, 11e-6))
    assert from_costs(costs, 0.03, None).resolution == LEAST_RESOLUTION


def test_calls_that_vary_much_coarsen_the_resolution():
    costs = dict.fromkeys(COSTS, Cost(9e-6, 49e-6, 49e-6))
    assert from_costs(costs, 0.03, None).resolution == pytest.approx(400e-6)


def test_a_naive_judge_takes_off_what_its_own_runner_needs():
    found = unguarded(COSTS)
    assert (found.functional, found.destination, found.resolution) == (18e-6, 20e-6, 0.0)


def test_without_a_compiler_nothing_is_taken_off(local):
    local.nanoseconds["candidate"] = lambda: 20_000
    costs = call_costs(local.seat, 1, None)
    assert costs == dict.fromkeys(("functional", "destination"), Cost(0.0, 0.0, pytest.approx(20e-6)))
    assert from_costs(costs, 0.02, None).resolution == pytest.approx(20e-6 / SHARE_TO_GAIN)


def test_disturbed_calls_do_not_count_where_there_are_others(local):
    turns = itertools.count()
    local.nanoseconds["candidate"] = lambda: 20_000 if next(turns) % 2 else 9_000_000
    flags = itertools.cycle([True, False])
    local.disturbed = lambda who: next(flags)
    assert call_costs(local.seat, 1, None)["functional"].ours == pytest.approx(20e-6)


def test_calls_are_many_and_their_runners_let_go(local):
    seats = []

    def start():
        seats.append(local.seat())
        return seats[-1]

    call_costs(start, 1, None)
    assert [s.style for s in seats] == ["functional", "destination"]
    assert all(s.client.process.poll() is not None for s in seats)
    assert NOOP_CALLS >= 100


def test_each_style_has_its_constant():
    found = Calibration(3.0, 2.0, 1.0)
    assert [found.constant(s) for s in ("module", "functional", "destination")] == [3.0, 3.0, 2.0]


def test_a_calibration_is_kept_as_json():
    found = Calibration(
        3e-6, 2e-6, 1e-4, 0.03, Ceilings((Bandwidth(1024, 1e11), Bandwidth(4096, 1e10)), 1e12)
    )
    assert Calibration.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(TypeError):
        Calibration.from_json({"functional": 1.0})
