"""Which graphs are exact on small integers, and rounds that must then be equalled bit by bit."""

from __future__ import annotations

import pytest
import torch

from evaluator.harness.trace import trace
from evaluator.judge.exact import exactly, integer_size
from evaluator.judge.numerics import Yardstick
from evaluator.judge.seeds import Seeds
from evaluator.problem.graph import Graph


def size(function, *inputs, **parameters):
    return integer_size(Graph.from_json(trace(function, inputs, parameters)))


X, Y = torch.randn(64, 48), torch.randn(48, 32)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(1),
        lambda x: x.cumsum(0),
        lambda x: x.relu().amax(1) + 3,
        lambda x: (2 * x - x.t().t()).abs().clamp(0, 4),
        lambda x: torch.where(x > 0.5, x, 0.0).sum(),
        lambda x: torch.cat([x, -x]).tril() * x.min(),
        lambda x: x @ x.t(),
        lambda x: torch.addmm(x[:, :1], x, x.t()),
    ],
)
def test_sums_products_and_choices_are_exact(function):
    assert size(function, X) == 8


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.softmax(1),
        lambda x: x.mean(1),
        lambda x: x * 0.3,
        lambda x: x / x.sum(),
        lambda x: x + 0.5,
        lambda x: torch.nn.functional.conv1d(x.unsqueeze(1), x[:1, :3].unsqueeze(1)),
    ],
)
def test_what_rounds_is_not(function):
    assert size(function, X) is None


def test_large_sums_leave_room_for_smaller_integers_only():
    def product(x, y):
        return x @ y

    assert size(product, torch.empty(1, 1 << 14), torch.empty(1 << 14, 1)) == 8
    assert size(product, torch.empty(1, 1 << 17), torch.empty(1 << 17, 1)) == 4
    assert size(product, torch.empty(1, 1 << 24), torch.empty(1 << 24, 1)) is None
    assert size(lambda x: x.sum(), torch.empty(64, dtype=torch.bfloat16)) is None
    assert size(lambda x: x.sum(), torch.empty(16, dtype=torch.bfloat16)) == 2


def test_weights_and_integers_of_unknown_size_are_not_taken():
    linear = torch.nn.Linear(48, 4)
    assert size(linear, X, **dict(linear.named_parameters())) is None
    assert size(lambda x, i: x * i, X, torch.ones(48, dtype=torch.int64)) is None
    assert size(lambda x, i: x[i], X, torch.ones(48, dtype=torch.int64)) == 8
    assert size(lambda x, m: torch.where(m, x, 0.0), X, X > 0) == 8


@pytest.fixture
def bench(local, make_problem):
    return local.bench(make_problem("def reference(x):\n    return x.sum(1), x.softmax(1)\n"))


def test_exact_outputs_are_to_be_equalled_and_others_are_not(bench):
    case = bench.cases[0]
    nominal = bench.nominal(case, Seeds())
    assert exactly(nominal, 8) is None
    whole = [torch.randint(-8, 9, (32, 48)).float()]
    round_ = exactly(bench.oracle.round(case, whole, "exact"), 8)
    assert [t.yardstick for t in round_.truths] == [Yardstick.EXACT, Yardstick.FLOAT64]
    assert round_.truths[0].values.dtype == torch.float32
    assert torch.equal(round_.truths[0].values, whole[0].sum(1))
    assert exactly(bench.oracle.round(case, whole, "exact"), 4) is None
