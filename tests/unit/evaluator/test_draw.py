"""Values: drawn as declared, the same for the same seed, and changed only where that breaks no promise."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from evaluator.judge.arena import Input
from evaluator.judge.draw import NUMERIC_CHANGES, VALUE_CHANGES, Change, changed, draw, eligible
from evaluator.problem.contract import Distribution, DistributionKind, InputSpec

CHANGES = {c.name: c for c in (*VALUE_CHANGES, *NUMERIC_CHANGES)}
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


def apply(name: str, values: torch.Tensor) -> torch.Tensor:
    (result,) = changed([values], CHANGES[name], [True], 3)
    assert isinstance(result, torch.Tensor)
    return result


def test_changes_do_what_their_names_say() -> None:
    values = one(NORMAL)
    assert torch.equal(apply("enlarged", values), values * 16)
    assert torch.equal(apply("reduced", values), values / 16)
    assert torch.equal(apply("negated", values), -values)
    assert torch.equal(apply("negative", values), -values.abs())
    assert torch.allclose(apply("shifted", values), values + 3)
    assert apply("constant", values).unique().numel() == 1
    assert torch.equal(apply("integers", values), (4 * values).round())
    assert torch.equal(apply("skewed", values), values.abs() * values)
    outliers = apply("outliers", values) != values
    assert 0 < outliers.sum() < 0.05 * values.numel()
    cancelling = apply("cancelling", values)
    assert cancelling.abs().mean() > 10
    assert abs(cancelling.mean().item()) < 0.1


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_keeps_shape_and_dtype_and_the_values_of_the_caller(name: str) -> None:
    for values in (torch.randn(3, 5, dtype=torch.float16), torch.randn((), dtype=torch.float64)):
        before = values.clone()
        result = apply(name, values)
        assert (result.shape, result.dtype) == (values.shape, values.dtype)
        assert torch.equal(values, before)


def test_only_eligible_tensors_change() -> None:
    kept, number = torch.ones(3), 2.5
    inputs: list[Input] = [torch.ones(3), kept, number]
    result = changed(inputs, CHANGES["negated"], [True, False, True], 1)
    assert torch.equal(torch.as_tensor(result[0]), -torch.ones(3))
    assert result[1] is kept
    assert result[2] is number


def touched(change: Change, *declared: InputSpec) -> list[bool]:
    return eligible(draw(declared, AXES, 1), declared, change)


def test_declared_structure_is_left_alone() -> None:
    declared = (
        NORMAL,
        spec(DistributionKind.UNIFORM),
        spec(DistributionKind.ONE_HOT, ("n", "classes")),
        spec(DistributionKind.CONSTANT),
        spec(DistributionKind.INTEGER, low=0, high="classes", dtype="int64"),
        spec(DistributionKind.NORMAL, (), scalar=True),
    )
    for change in CHANGES.values():
        assert touched(change, *declared) == [True, True, False, False, False, False]


def test_values_that_the_file_draws_are_changed_only_in_ways_that_keep_structure() -> None:
    inputs: list[Input] = [torch.eye(3), torch.arange(3), 1.0]
    assert eligible(inputs, None, CHANGES["enlarged"]) == [True, False, False]
    assert eligible(inputs, None, CHANGES["shifted"]) == [False, False, False]


def test_enlarged_values_are_exactly_representable() -> None:
    assert math.log2(16.0).is_integer()
    values = torch.randn(100).bfloat16()
    assert torch.equal(apply("reduced", apply("enlarged", values)), values)
