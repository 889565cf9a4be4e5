"""The reference as judged: where its outputs lie, what they should be, how exact it is, what it changes."""

from __future__ import annotations

import pytest
import torch

from evaluator.evaluation import InvalidProblem
from evaluator.judge.numerics import Yardstick, compare
from evaluator.judge.seeds import Seeds

SOFTMAX = "import torch\ndef reference(x):\n    return torch.softmax(x, 1)\n"
IN_PLACE = """
def reference(x, y):
    x += y * 0.1
    {returned}
"""
PAIR = {
    "inputs": {
        "x": {"shape": ["rows", "cols"], "dtype": "float32", "layout": "sliced"},
        "y": {"shape": ["rows", "cols"], "dtype": "float32"},
    },
    "mutates": ["x"],
}


def test_a_round_holds_fresh_inputs_and_their_truth_in_float64(local, make_problem):
    bench = local.bench(make_problem(SOFTMAX))
    first, second = (bench.round(bench.cases[0], Seeds()) for _ in range(2))
    assert not torch.equal(first.inputs[0], second.inputs[0])
    (truth,) = first.truths
    assert truth.yardstick is Yardstick.FLOAT64
    assert torch.equal(truth.values, torch.softmax(first.inputs[0].double(), 1))
    assert 0 < first.own[0].rms < first.own[0].largest < 1e-5
    assert first.samples[0].numel() > 0


def test_numbers_stay_while_tensors_are_drawn_anew(local, make_problem):
    inputs = {
        "x": {"shape": ["rows", "cols"], "dtype": "float32"},
        "n": {"scalar": True, "dtype": "float64", "distribution": {"kind": "uniform", "low": 1, "high": 2}},
    }
    bench = local.bench(make_problem("def reference(x, n):\n    return x * n\n", inputs=inputs))
    first, second = (bench.round(bench.cases[0], Seeds()) for _ in range(2))
    assert first.inputs[1] == second.inputs[1]
    for round_ in (first, second):
        x, n = round_.inputs
        assert torch.equal(round_.truths[0].values, x.double() * n)
    other = local.bench(make_problem("def reference(x, n):\n    return n * x\n", inputs=inputs))
    assert other.round(other.cases[0], Seeds()).inputs[1] != first.inputs[1]


def test_integers_have_the_reference_itself_as_truth(local, make_problem):
    bench = local.bench(make_problem("def reference(x):\n    return x.argmax(1), x > 0\n"))
    round_ = bench.round(bench.cases[0], Seeds())
    assert [t.yardstick for t in round_.truths] == [Yardstick.EXACT] * 2
    assert torch.equal(round_.truths[0].values, round_.inputs[0].argmax(1))


def test_a_reference_that_cannot_run_in_float64_is_its_own_truth(local, make_problem):
    source = "import torch\ndef reference(x):\n    return x @ torch.ones(x.shape[1], 3)\n"
    bench = local.bench(make_problem(source))
    assert bench.round(bench.cases[0], Seeds()).truths[0].yardstick is Yardstick.NATIVE


@pytest.mark.parametrize("returned", ["return x", "return x.sum(1)", "return None"])
def test_what_an_operation_changes_is_an_output_too(local, make_problem, returned):
    bench = local.bench(make_problem(IN_PLACE.format(returned=returned), **PAIR))
    round_ = bench.round(bench.cases[0], Seeds())
    x, y = round_.inputs
    changed = round_.truths[-1]
    assert changed.yardstick is Yardstick.FLOAT64
    assert torch.allclose(changed.values, x.double() + y.double() * 0.1)
    assert len(round_.truths) == len(round_.own) == len(round_.samples) == (1 if "None" in returned else 2)


def test_a_result_in_memory_that_changes_is_known_to_be_reused(local, make_problem):
    views = local.bench(make_problem("def reference(x):\n    return x.t()\n"))
    assert views.round(views.cases[0], Seeds()).reuses
    fresh = local.bench(make_problem(SOFTMAX))
    assert not fresh.round(fresh.cases[0], Seeds()).reuses


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def reference(x):\n    return None\n", "returned NoneType"),
        ("def reference(x):\n    return ()\n", "returns no tensor"),
        ("def reference(x):\n    raise ValueError('so it is')\n", "ValueError: so it is"),
        ("def reference(x:\n", "compile_error"),
        ("def other(x):\n    return x\n", "reference"),
        (
            "def reference(x):\n    return x[:1, :1].expand(1 << 20, 1 << 20)\n",
            "tensors of .* MiB; the contract allows 65536 MiB",
        ),
    ],
)
def test_a_reference_that_fails_makes_the_problem_invalid(local, make_problem, source, words):
    with pytest.raises(InvalidProblem, match=words):
        local.bench(make_problem(source))


def test_a_reference_that_is_not_finite_makes_the_problem_invalid(local, make_problem):
    bench = local.bench(make_problem("def reference(x):\n    return x.log()\n"))
    with pytest.raises(InvalidProblem, match="not finite on 'a'"):
        bench.round(bench.cases[0], Seeds())


def test_outputs_other_than_declared_make_the_problem_invalid(local, make_problem):
    problem = make_problem(SOFTMAX, outputs={"y": {"shape": ["rows"], "dtype": "float32"}})
    with pytest.raises(InvalidProblem, match="the contract declares"):
        local.bench(problem)


def test_a_float64_output_has_the_own_error_of_float32_scaled_down(local, make_problem):
    inputs = {"x": {"shape": ["rows", "cols"], "dtype": "float64"}}
    bench = local.bench(make_problem("def reference(x):\n    return x.sum(1)\n", inputs=inputs))
    round_ = bench.round(bench.cases[0], Seeds())
    assert round_.truths[0].yardstick is Yardstick.FLOAT64
    assert 1e-17 < round_.own[0].rms < 1e-14
    other_order = sum(round_.inputs[0].unbind(1))
    accuracy = bench.contract.accuracy
    assert compare(other_order, round_.truths[0], round_.own[0], accuracy).reason == ""
    in_single = round_.inputs[0].float().sum(1).double()
    assert compare(in_single, round_.truths[0], round_.own[0], accuracy).reason
