"""Values: drawn as declared, the same for the same seed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from evaluator.judge.draw import draw
from evaluator.problem.contract import Distribution, DistributionKind, InputSpec

AXES = {"n": 4000, "classes": 7}


def spec(
    kind: DistributionKind, shape: tuple[int | str, ...] = ("n",), dtype: str = "float32", **keys: Any
) -> InputSpec:
    scalar = bool(keys.pop("scalar", False))
    return InputSpec("x", shape, dtype, Distribution(kind, **keys), scalar=scalar)


def one(of: InputSpec, seed: int = 1) -> torch.Tensor:
    (value,) = draw([of], AXES, seed)
    assert isinstance(value, torch.Tensor)
    return value


NORMAL = spec(DistributionKind.NORMAL)


def test_normal_values_have_their_mean_and_deviation() -> None:
    values = one(spec(DistributionKind.NORMAL, mean=3.0, std=0.5))
    assert values.mean().item() == pytest.approx(3.0, abs=0.05)
    assert values.std().item() == pytest.approx(0.5, abs=0.05)


def test_uniform_values_fill_their_range() -> None:
    values = one(spec(DistributionKind.UNIFORM, low=-2.0, high=6.0))
    assert -2.0 <= values.min() < -1.9
    assert 5.9 < values.max() <= 6.0


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float32"])
def test_integers_reach_every_value_up_to_an_axis(dtype: str) -> None:
    values = one(spec(DistributionKind.INTEGER, dtype=dtype, low=0, high="classes"))
    assert sorted(values.unique().tolist()) == list(range(7))
    assert str(values.dtype) == f"torch.{dtype}"


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_zipf_values_have_shares_that_fall_with_their_rank(dtype: str) -> None:
    values = one(spec(DistributionKind.ZIPF, dtype=dtype, low=2, high="classes", exponent=2.0))
    counts = values.long().bincount()
    assert counts.tolist()[:2] == [0, 0]
    assert len(counts) == 7
    assert (counts[2] / counts[3]).item() == pytest.approx(4, rel=0.25)
    assert counts[2] > counts[3] > counts[4] > counts[6] > 0


def test_one_hot_rows_have_a_single_one_at_varying_places() -> None:
    values = one(spec(DistributionKind.ONE_HOT, ("n", "classes")))
    assert torch.equal(values.sum(-1), torch.ones(4000))
    assert (values.sum(0) > 0).all()


def test_bernoulli_values_are_true_as_often_as_declared() -> None:
    values = one(spec(DistributionKind.BERNOULLI, dtype="bool", p=0.2))
    assert values.dtype == torch.bool
    assert values.float().mean().item() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int64", float((1 << 24) + 1)), ("int64", -5.0), ("float64", 0.1), ("bool", 1.0), ("float16", 0.5)],
)
def test_a_constant_is_exactly_what_is_declared(dtype: str, value: float) -> None:
    values = one(spec(DistributionKind.CONSTANT, dtype=dtype, value=value))
    assert values.unique().tolist() == [value]


def test_numbers_are_python_numbers() -> None:
    scalars = [
        spec(DistributionKind.NORMAL, (), "float32", scalar=True),
        spec(DistributionKind.INTEGER, (), "int64", low=3, high=4, scalar=True),
        spec(DistributionKind.BERNOULLI, (), "bool", scalar=True),
    ]
    assert [type(v) for v in draw(scalars, AXES, 1)] == [float, int, bool]


def test_a_seed_decides_all_values_and_inputs_differ_from_one_another() -> None:
    first, second = draw([NORMAL, NORMAL], AXES, 11)
    again = draw([NORMAL, NORMAL], AXES, 11)
    assert all(
        torch.equal(torch.as_tensor(a), torch.as_tensor(b))
        for a, b in zip((first, second), again, strict=True)
    )
    assert not torch.equal(torch.as_tensor(first), torch.as_tensor(second))
    assert not torch.equal(one(NORMAL, 11), one(NORMAL, 12))
