"""What outlives a candidate: weights given to both sides, baselines measured, and what none of them can do."""

from __future__ import annotations

import gc
import os
import random

import pytest
import torch

from evaluator.evaluation import InvalidProblem, Verdict
from evaluator.harness.wire import Load
from evaluator.judge.cases import hidden
from evaluator.judge.changes import ALL_CHANGES
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import Yardstick
from evaluator.judge.seeds import Seeds

SOFTMAX = "import torch\ndef reference(x):\n    return torch.softmax(x, 1)\n"
LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 4)
    def forward(self, x):
        return self.linear(x)
"""
CHANGES = {c.name: c for c in ALL_CHANGES}


def test_weights_are_new_for_every_evaluation(local, make_problem):
    bench = local.bench(make_problem(LINEAR, init=["cols"]))
    case = bench.cases[0]
    seen = [bench.oracle.state[case.key].tensors[0].clone()]
    for _ in range(2):
        bench.reseed(Seeds())
        weight = bench.oracle.state[case.key].tensors[0].clone()
        assert not any(torch.equal(weight, earlier) for earlier in seen)
        seen.append(weight)


def test_changed_values_have_a_yardstick_of_their_own(local, make_problem):
    bench = local.bench(make_problem(SOFTMAX))
    case = bench.cases[0]
    for name in ("enlarged", "outliers"):
        assert bench.round(case, Seeds(), CHANGES[name]) is not None
    assert set(bench.oracle.known[case.name].own) == {"enlarged", "outliers"}


def test_values_that_the_reference_cannot_compute_are_left_out(local, make_problem):
    flat = local.bench(make_problem("def reference(x):\n    return (x.abs() - 1e-9).log()\n"))
    assert flat.round(flat.cases[0], Seeds(), CHANGES["constant"]) is not None
    guarded = local.bench(make_problem("def reference(x):\n    assert x.abs().max() < 8\n    return x + 1\n"))
    assert guarded.round(guarded.cases[0], Seeds(), CHANGES["enlarged"]) is None
    integers = {
        "x": {
            "shape": ["rows", "cols"],
            "dtype": "int64",
            "distribution": {"kind": "integer", "low": 0, "high": 9},
        }
    }
    whole = local.bench(make_problem("def reference(x):\n    return x.sum(1)\n", inputs=integers))
    assert whole.round(whole.cases[0], Seeds(), CHANGES["enlarged"]) is None


@pytest.mark.parametrize(
    ("verdict", "remedy"),
    [(Verdict.RESOURCE_LIMIT, "memory_bytes"), (Verdict.TIMEOUT, "timeouts"), (Verdict.RUNTIME_ERROR, "")],
)
def test_a_reference_that_is_too_much_is_told_what_helps(local, make_problem, verdict, remedy):
    text = str(local.bench(make_problem(SOFTMAX)).invalid(Fault(verdict, "so it is")))
    assert text.startswith(f"the reference failed ({verdict.value}): so it is")
    assert remedy in text
    assert ("--set" in text) == bool(remedy)


def test_hidden_points_come_and_go(local, make_problem):
    bench = local.bench(make_problem(LINEAR, init=["cols"]))
    points = hidden(bench.contract, random.Random(1), 3)
    for case in points:
        bench.admit(case, Seeds())
        assert bench.round(case, Seeds()).truths[0].values.shape == (case.axes["rows"], 4)
        bench.dismiss(case)
    assert set(bench.oracle.known) == {"a"}
    visible = bench.cases[0].key
    assert set(bench.oracle.state) == set(bench.oracle.seat.client.runner.instances) == {visible}


def test_a_hidden_point_met_again_has_the_weights_of_the_new_evaluation(local, make_problem):
    bench = local.bench(make_problem(LINEAR, init=["cols"]))
    point = next(p for p in hidden(bench.contract, random.Random(1), 3) if p.key != bench.cases[0].key)
    weights = []
    for _ in range(2):
        bench.reseed(Seeds())
        bench.admit(point, Seeds())
        weights.append(bench.oracle.state[point.key].tensors[0].clone())
        seat = local.seat()
        seat.load(Load({"candidate.py": LINEAR}, "candidate.py", "Model", "module", False, 1, 1, 2, 1))
        seat.construct(point.key, bench.oracle.init[point.key], bench._seed)
        own = seat.client.runner.instances[point.key].module
        assert torch.equal(own.linear.weight, weights[-1])
        bench.dismiss(point)
    assert not torch.equal(*weights)


def test_letting_a_point_go_never_blames_the_candidate_for_a_reference_that_ended(local, make_problem):
    bench = local.bench(make_problem(SOFTMAX))
    ended, refused = hidden(bench.contract, random.Random(1), 2)
    bench.admit(refused, Seeds())
    bench.oracle.seat.client.runner.bindings.clear()
    with pytest.raises(InvalidProblem, match="the reference failed"):
        bench.dismiss(refused)
    bench.admit(ended, Seeds())
    bench.oracle.seat.client.process.kill()
    bench.dismiss(ended)


def test_a_reference_that_fails_leaves_no_weights_open(local, make_problem):
    failing = LINEAR.replace("return", "raise ValueError('so it is')\n        return")
    gc.collect()
    before = _open_weights()
    with pytest.raises(InvalidProblem, match="so it is"):
        local.bench(make_problem(failing, init=["cols"]))
    gc.collect()
    assert _open_weights() <= before


def _open_weights() -> int:
    folder = "/proc/self/fd"
    with os.scandir(folder) as entries:
        return sum("kernelwright-state" in os.readlink(e.path) for e in entries if os.path.lexists(e.path))


def test_stale_values_are_used_again_only_without_their_defence(local, make_problem):
    for fresh in (True, False):
        bench = local.bench(make_problem(SOFTMAX), Defences(fresh_values=fresh))
        first, second = (bench.round(bench.cases[0], Seeds()) for _ in range(2))
        assert torch.equal(first.inputs[0], second.inputs[0]) != fresh


@pytest.mark.parametrize(
    ("body", "exact"), [("x.sum(1)", True), ("x.softmax(1)", False), ("torch.relu(x) @ x.t()", True)]
)
def test_rounds_are_exact_where_the_operation_is(local, make_problem, body, exact):
    bench = local.bench(make_problem(f"import torch\ndef reference(x):\n    return {body}\n"))
    round_ = bench.exact_round(bench.cases[0], Seeds())
    assert (round_ is not None) == exact
    if round_ is not None:
        assert round_.truths[0].yardstick is Yardstick.EXACT
        assert torch.equal(round_.truths[0].values, round_.truths[0].values.round())
        assert bench.graph(bench.cases[0]) is bench.graph(bench.cases[0])
