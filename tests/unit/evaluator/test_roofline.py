"""Times below what moving a call's bytes takes are cheats, or nobody's word without a person's look."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from evaluator.evaluation import Interval, Verdict, WorkloadTiming
from evaluator.judge.arena import TensorSpec
from evaluator.judge.ceilings import MARGIN, Bandwidth, Ceilings
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import own_error, truth
from evaluator.judge.oracle import Round
from evaluator.judge.roofline import Moved, evidence, moved, require_possible

CEILINGS = Ceilings((Bandwidth(1 << 14, 1e9 / MARGIN), Bandwidth(1 << 20, 2e8)), 1e12)
"""A byte takes a nanosecond at best."""
MOVED = {"a": Moved(outputs=1_000_000, inputs=3_000_000)}


def row(candidate: float, baseline: float = 9e-3) -> WorkloadTiming:
    around = [Interval(t, t, t) for t in (candidate, baseline, baseline / candidate)]
    return WorkloadTiming("a", 1.0, around[0], {"torch_eager": around[1]}, "torch_eager", around[2], 9, 0)


@pytest.mark.parametrize(
    ("seconds", "verdict", "words"),
    [
        (0.9e-3, Verdict.INTEGRITY, r"900 us on 'a' is less than writing its outputs can take \(1000 us\)"),
        (1.1e-3, Verdict.NO_SCORE, "a person must look"),
        (3.9e-3, Verdict.NO_SCORE, "a person must look"),
    ],
)
def test_a_time_below_a_floor_is_not_believed(seconds, verdict, words):
    with pytest.raises(Fault, match=words) as fault:
        require_possible([row(seconds)], MOVED, CEILINGS)
    assert fault.value.verdict is verdict


def test_a_possible_time_is_believed():
    require_possible([row(4.1e-3)], MOVED, CEILINGS)


def test_where_a_baseline_is_below_the_floor_nothing_is_proved():
    require_possible([row(0.1e-3, baseline=0.2e-3)], MOVED, CEILINGS)
    with pytest.raises(Fault) as fault:
        require_possible([row(0.1e-3, baseline=1.2e-3)], MOVED, CEILINGS)
    assert fault.value.verdict is Verdict.INTEGRITY


def round_of(values: torch.Tensor) -> Round:
    found = truth(TensorSpec((4,), (1,), "float32"), values, values.double())
    return Round([values, 3], (found,), (own_error(found, values),), (), (values,))


def test_outputs_count_where_they_change_from_round_to_round():
    one = round_of(torch.tensor([1.0, 0.0, 0.0, 4.0]))
    assert moved(one, round_of(torch.tensor([2.0, 0.0, 0.0, 5.0]))) == Moved(outputs=8, inputs=16)
    assert moved(one, one).outputs == 0


def test_the_record_names_the_ceiling():
    assert evidence(MOVED, None) == {"ceiling": "not calibrated", "seconds": {}}
    told = evidence(MOVED, CEILINGS)
    assert told["seconds"] == {"a": pytest.approx(1e-3)}
    assert "0.7 GB/s" in str(told["ceiling"])


def test_bandwidth_is_the_best_from_the_next_smaller_working_set_on():
    ceilings = replace(CEILINGS, bandwidths=(Bandwidth(100, 9.0), Bandwidth(1000, 4.0), Bandwidth(5000, 5.0)))
    assert [ceilings.bandwidth(n) for n in (10, 100, 999, 1000, 10**9)] == [9.0, 9.0, 9.0, 5.0, 5.0]
