"""The arithmetic of timing: pairs, voids, what is taken off, which baseline counts, when there is no score.

Calls are made on the local machine, where they take what the test says.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from evaluator.evaluation import Verdict
from evaluator.harness.wire import Load
from evaluator.judge.calibration import Calibration
from evaluator.judge.clock import Cores
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.policy import policy
from evaluator.judge.seeds import Seeds
from evaluator.judge.timing import SPARE_RESTARTS, Timer
from evaluator.judge.verifier import Verifier

SOURCE = "import torch\ndef reference(x):\n    return torch.softmax(x, 1)\n"
CANDIDATE = "import torch\ndef run(x):\n    return torch.softmax(x, 1)\n"
WRONG = """
import torch

calls = 0


def run(x):
    global calls
    calls += 1
    return torch.softmax(x, 1) * (1 if calls < 6 else 2)
"""
POLICY = replace(policy("screen"), pairs=6, least_pairs=4, warm_ups=2)


@pytest.fixture
def timer(local, make_problem):
    """Makes a Timer on the local machine; `local.nanoseconds` decides what calls take."""

    def make(source=CANDIDATE, seconds=None, defences=None, chosen=POLICY, **contract):
        bench = local.bench(make_problem(SOURCE, **contract))

        def start():
            seat = local.seat("candidate", defences)
            seat.load(Load({"candidate.py": source}, "candidate.py", "run", "functional", False, 1, 1, 0, 1))
            return seat

        known = seconds or {n: {c.name: 2e-3 for c in bench.cases} for n in bench.contract.baselines}
        verifier = Verifier(bench.contract.accuracy, defences or Defences())
        return Timer(bench, chosen, Seeds("fixed"), verifier, start, known, defences or Defences())

    return make


def test_a_candidate_that_takes_half_the_time_is_twice_as_fast(timer):
    timing = timer().time()
    assert timing.speedup.value == pytest.approx(2.0)
    assert timing.speedup.low == pytest.approx(timing.speedup.high)
    (row,) = timing.workloads
    assert row.candidate.value == pytest.approx(1e-3)
    assert row.baselines["torch_eager"].value == pytest.approx(2e-3)
    assert (row.samples, row.voided, timing.restarts) == (18, 0, 3)
    assert (timing.baseline, timing.way, timing.threads) == ("torch_eager", "released calls", 1)


def test_the_constant_is_taken_off_both_sides(timer, local):
    local.calibration = Calibration(functional=5e-4, destination=0.0, resolution=50e-6)
    timing = timer().time()
    assert timing.speedup.value == pytest.approx(1.5 / 0.5)
    assert timing.constant == 5e-4


def test_a_call_shorter_than_the_constant_is_never_negative(timer, local):
    local.calibration = Calibration(2e-3, 2e-3, 50e-6)
    with pytest.raises(Fault, match="below what this machine can tell") as fault:
        timer().time()
    assert fault.value.verdict is Verdict.NO_SCORE


def test_a_time_below_the_resolution_is_no_score_unless_its_defence_is_off(timer, local):
    local.nanoseconds["candidate"] = lambda: 20_000
    with pytest.raises(Fault, match=r"20 us on 'a' is below what this machine can tell \(50 us\)"):
        timer().time()
    assert timer(defences=Defences(least_constant=False)).time().speedup.value == pytest.approx(100)


def test_disturbed_pairs_are_voided_and_made_up_for(timer, local):
    disturbed = itertools.cycle([True, False, False])
    local.disturbed = lambda who: who == "candidate" and next(disturbed)
    timing = timer().time()
    assert timing.workloads[0].samples == 18
    assert timing.workloads[0].voided > 0
    assert timing.speedup.value == pytest.approx(2.0)


def test_too_many_disturbed_pairs_are_no_score(timer, local):
    local.disturbed = lambda who: who == "candidate"
    with pytest.raises(Fault, match="18 of 18 pairs on 'a' were disturbed") as fault:
        timer().time()
    assert fault.value.verdict is Verdict.NO_SCORE
    assert timer(defences=Defences(quiet_samples=False)).time().workloads[0].voided == 0


def test_a_disturbed_restart_is_replaced_by_a_spare_one(timer, local):
    local.disturbed = lambda who: who == "candidate" and local.started.count("candidate") == 1
    made = timer()
    assert made.time().restarts == POLICY.restarts
    assert made.voided == ["18 of 18 pairs on 'a' were disturbed by other work"]
    assert local.started.count("candidate") == POLICY.restarts + 1


def test_the_number_of_pairs_is_fixed_by_the_first_restart(timer):
    made = timer(chosen=replace(POLICY, seconds_per_workload=1e-9))
    assert made.time().workloads[0].samples == POLICY.least_pairs * POLICY.restarts


@pytest.fixture
def beside(local):
    """Sets what a baseline's call takes while a candidate's runner is there; alone it takes 2 ms."""
    there = {"candidate": False}
    seat = local.seat

    def watched(who="candidate", *rest):
        made = seat(who, *rest)
        if who == "candidate":
            close, there["candidate"] = made.close, True

            def closing():
                there["candidate"] = False
                close()

            made.close = closing
        return made

    def slow(nanoseconds: int) -> None:
        local.seat = watched
        local.nanoseconds["reference"] = lambda: nanoseconds if there["candidate"] else 2_000_000

    return slow


def test_a_baseline_slowed_only_beside_the_candidate_voids_the_restart(timer, beside):
    beside(4_000_000)
    made = timer()
    with pytest.raises(
        Fault, match="torch_eager was slower beside the candidate than alone: 4000 and 2000 us"
    ) as fault:
        made.time()
    assert fault.value.verdict is Verdict.NO_SCORE
    assert len(made.voided) == POLICY.restarts + SPARE_RESTARTS


@pytest.mark.parametrize("nanoseconds", [2_100_000, 1_900_000])
def test_the_faster_of_a_baseline_s_times_beside_and_alone_counts(timer, beside, nanoseconds):
    beside(nanoseconds)
    assert timer().time().speedup.value == pytest.approx(min(nanoseconds, 2_000_000) / 1e6)


def test_nothing_is_timed_where_judge_and_runner_share_their_only_core(timer, local):
    local.cores = Cores(0, (0,))
    with pytest.raises(Fault, match="no core of its own") as fault:
        timer().time()
    assert fault.value.verdict is Verdict.NO_SCORE
    assert "candidate" not in local.started


def test_the_strongest_baseline_counts_and_far_ones_are_not_called(timer):
    seconds = {"torch_eager": {"a": 2e-3}, "torch_compile": {"a": 9e-3}}
    made = timer(seconds=seconds, baselines=["torch_eager", "torch_compile"])
    assert made.contenders == {"a": ("torch_eager",)}
    assert made.time().baseline == "torch_eager"


def test_workloads_count_by_their_weight(timer, local):
    workloads = [
        {"name": "a", "axes": {"rows": 32, "cols": 48}, "weight": 3},
        {"name": "b", "axes": {"rows": 16, "cols": 96}},
    ]
    made = timer(workloads=workloads)
    seat = made.bench.baselines.seat("torch_eager")
    timed = seat.time
    seat.time = lambda workload, *rest, **more: _scaled(timed(workload, *rest, **more), workload == "b")
    timing = made.time()
    assert [w.workload for w in timing.workloads] == ["a", "b"]
    assert timing.workloads[1].speedup.value == pytest.approx(8.0)
    assert timing.speedup.value == pytest.approx((2.0**3 * 8.0) ** 0.25)


def _scaled(released, fourfold):
    return replace(released, nanoseconds=released.nanoseconds * 4) if fourfold else released


def test_timed_calls_are_verified_unless_that_defence_is_off(timer):
    with pytest.raises(Fault, match="further off than allowed"):
        timer(WRONG).time()
    assert timer(WRONG, defences=Defences(every_call_verified=False)).time().speedup.value == pytest.approx(2)


def test_every_restart_is_a_fresh_runner(timer, local):
    timer().time()
    assert local.started.count("candidate") == POLICY.restarts


def test_order_and_values_follow_from_the_master_seed(timer):
    first, second = timer(), timer()
    assert [first.chance.random() for _ in range(3)] == [second.chance.random() for _ in range(3)]
