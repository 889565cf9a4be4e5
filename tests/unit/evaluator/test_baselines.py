"""Baselines: they give the reference's answer, and are measured once; what none of them can do has an owner."""

from __future__ import annotations

import itertools

import pytest
import torch

from evaluator.evaluation import InfraError, InvalidProblem
from evaluator.judge.calibration import Calibration
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
ADDS_IN_PLACE = "import torch\ndef reference(x):\n    x.add_(1)\n"


@pytest.fixture
def bench(local, make_problem):
    return local.bench(make_problem(SOFTMAX))


def test_a_baseline_gives_the_reference_s_answer_with_its_weights(local, make_problem):
    bench = local.bench(make_problem(LINEAR, init=["cols"]))
    (case,) = bench.cases
    for _ in range(2):
        round_ = bench.nominal(case, Seeds())
        answer = bench.baselines.seat("torch_eager").call(case.name, round_.inputs, round_.samples)
        assert torch.allclose(answer.outputs[0].double(), round_.truths[0].values, atol=1e-5)
        bench.reseed(Seeds())


def test_baselines_are_measured_with_the_constant_taken_off(local, make_problem):
    local.calibration = Calibration(5e-4, 1e-4, 50e-6)
    bench = local.bench(make_problem(SOFTMAX))
    assert bench.baselines.measure() == {"torch_eager": {"a": pytest.approx(1.5e-3)}}


def test_other_work_makes_no_baseline_look_slow(local, make_problem):
    calls = itertools.cycle([6_000_000, 6_500_000, 2_000_000])
    local.nanoseconds["reference"] = lambda: next(calls)
    bench = local.bench(make_problem(SOFTMAX))
    assert bench.baselines.measure() == {"torch_eager": {"a": pytest.approx(2e-3)}}


def test_disturbed_calls_do_not_count_beside_quiet_ones(local, make_problem):
    made = itertools.cycle([(9_000_000, True), (9_500_000, True), (2_000_000, False)])
    now = [next(made)]

    def nanoseconds():
        now[0] = next(made)
        return now[0][0]

    local.nanoseconds["reference"] = nanoseconds
    local.disturbed = lambda who: now[0][1]
    bench = local.bench(make_problem(SOFTMAX))
    assert bench.baselines.alone("torch_eager", bench.cases[0], 6) == pytest.approx(2e-3)


def test_what_returns_nothing_is_not_credited_with_reading_a_result(local, make_problem):
    local.calibration = Calibration(5e-4, 1e-4, 50e-6)
    bench = local.bench(make_problem(ADDS_IN_PLACE, mutates=["x"]))
    assert bench.baselines.measure() == {"torch_eager": {"a": pytest.approx(1.9e-3)}}


ALL = ("torch_eager", "torch_compile", "torch_compile_max")


@pytest.mark.parametrize(("source", "more"), [(SOFTMAX, {}), (LINEAR, {"init": ["cols"]})])
def test_max_autotune_is_a_baseline_where_it_has_kernels_to_choose_from(local, make_problem, source, more):
    baselines = local.bench(make_problem(source, baselines=list(ALL), **more)).baselines
    wanted = ALL if source is LINEAR else ALL[:2]
    assert tuple(baselines.different()) == wanted
    assert baselines.the_same({name: {} for name in wanted}) == list(ALL[len(wanted) :])


def test_a_reference_that_cannot_be_traced_is_autotuned(local, make_problem):
    source = "import torch\ndef reference(x):\n    return x * float(x.sum())\n"
    baselines = local.bench(make_problem(source, baselines=list(ALL))).baselines
    assert tuple(baselines.different()) == ALL


def test_only_baselines_near_the_best_are_contenders(bench):
    times = {"torch_eager": {"a": 1.05e-3}, "torch_compile": {"a": 1.0e-3}, "other": {"a": 1.3e-3}}
    assert bench.baselines.contenders(bench.cases[0], times) == ("torch_eager", "torch_compile")


def test_a_baseline_that_fails_later_is_the_machine_s_fault(bench):
    bench.baselines.measure()
    bench.baselines.seat("torch_eager").client.runner.bindings.clear()
    with pytest.raises(InfraError, match="torch_eager failed"):
        bench.baselines.alone("torch_eager", bench.cases[0], 3)


def test_a_problem_none_of_whose_baselines_can_run_is_invalid(bench, local):
    def refuse(*_, **__):
        raise MemoryError

    bench.baselines.seat("torch_eager").client.runner.bindings[1].call = refuse
    with pytest.raises(InvalidProblem, match=r"no baseline of the contract can run \(torch_eager: raised"):
        bench.baselines.measure()
    assert list(bench.baselines.unavailable) == ["torch_eager"]
