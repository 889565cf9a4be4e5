"""The judge's core, and what doing nothing costs. The calls here take what the test says."""

from __future__ import annotations

import itertools
import os

import pytest
import torch

from evaluator.judge.clock import (
    LEAST_RESOLUTION,
    NOOP_CALLS,
    Calibration,
    Cores,
    calibrate,
    pinned,
    split_cores,
)


def test_the_judge_has_the_first_core_and_runners_all_others():
    cores = split_cores()
    allowed = sorted(os.sched_getaffinity(0))
    assert cores.judge == allowed[0]
    assert cores.shared == (len(allowed) == 1)
    assert cores.threads == len(cores.runners) == max(1, len(allowed) - 1)
    assert Cores(0, (1, 2)).threads == 2
    assert not Cores(0, (1, 2)).shared
    assert Cores(0, (0,)).shared


def test_the_thread_is_pinned_for_the_block_only():
    before, threads = os.sched_getaffinity(0), torch.get_num_threads()
    core = min(before)
    with pinned(core):
        assert os.sched_getaffinity(0) == {core}
        assert torch.get_num_threads() == 1
    assert os.sched_getaffinity(0) == before
    assert torch.get_num_threads() == threads


def test_calm_calls_give_their_time_as_constant_and_the_least_resolution(local):
    local.nanoseconds["candidate"] = lambda: 20_000
    found = calibrate(local.seat, 1)
    assert found.functional == found.destination == pytest.approx(20e-6)
    assert found.resolution == LEAST_RESOLUTION


def test_uneven_calls_coarsen_the_resolution_and_the_constant_is_a_low_one(local):
    times = itertools.cycle(range(10_000, 110_000, 1_000))
    local.nanoseconds["candidate"] = lambda: next(times)
    found = calibrate(local.seat, 1)
    assert 18e-6 < found.functional < 22e-6
    assert found.resolution == pytest.approx(10 * 40e-6, rel=0.05)


def test_disturbed_calls_do_not_count_where_there_are_others(local):
    turns = itertools.count()
    local.nanoseconds["candidate"] = lambda: 20_000 if next(turns) % 2 else 9_000_000
    flags = itertools.cycle([True, False])
    local.disturbed = lambda who: next(flags)
    assert calibrate(local.seat, 1).resolution == LEAST_RESOLUTION


def test_calls_are_many_and_their_runners_let_go(local):
    seats = []

    def start():
        seats.append(local.seat())
        return seats[-1]

    calibrate(start, 1)
    assert [s.style for s in seats] == ["functional", "destination"]
    assert all(s.client.process.poll() is not None for s in seats)
    assert NOOP_CALLS >= 100


def test_each_style_has_its_constant():
    found = Calibration(3.0, 2.0, 1.0)
    assert [found.constant(s) for s in ("module", "functional", "destination")] == [3.0, 3.0, 2.0]
