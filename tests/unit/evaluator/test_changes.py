"""Nominal values changed: each as its name says, and only where that breaks no promise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from evaluator.judge.arena import Input
from evaluator.judge.changes import ALL_CHANGES, INDEX_CHANGES, STRUCTURE_CHANGES, ValueChange, changed
from evaluator.judge.draw import draw
from evaluator.problem.contract import Distribution, DistributionKind, InputSpec

CHANGES = {c.name: c for c in ALL_CHANGES}
FLOATS = {name: c for name, c in CHANGES.items() if isinstance(c, ValueChange)}
AXES = {"n": 4000, "classes": 7}


def spec(
    kind: DistributionKind, shape: tuple[int | str, ...] = ("n",), dtype: str = "float32", **keys: Any
) -> InputSpec:
    scalar = bool(keys.pop("scalar", False))
    return InputSpec("x", shape, dtype, Distribution(kind, **keys), scalar=scalar)


NORMAL = spec(DistributionKind.NORMAL)
INDICES = spec(DistributionKind.INTEGER, low=2, high="classes", dtype="int64")


def apply(name: str, values: torch.Tensor, declared: InputSpec = NORMAL, seed: int = 3) -> torch.Tensor:
    result = changed([values], [declared], AXES, CHANGES[name], seed)
    assert result is not None
    (value,) = result
    assert isinstance(value, torch.Tensor)
    return value


def test_changes_of_size_do_what_their_names_say() -> None:
    values = torch.randn(4000)
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


@pytest.mark.parametrize("name", FLOATS)
def test_a_change_keeps_shape_and_dtype_and_the_values_of_the_caller(name: str) -> None:
    for values in (torch.randn(3, 5, dtype=torch.float16), torch.randn(5, 1, 7, dtype=torch.float64)):
        before = values.clone()
        result = apply(name, values)
        assert (result.shape, result.dtype) == (values.shape, values.dtype)
        assert torch.equal(values, before)


@pytest.mark.parametrize("name", FLOATS)
def test_a_tensor_of_one_element_has_no_arrangement(name: str) -> None:
    value = torch.tensor(-1.5)
    result = apply(name, value)
    assert result.shape == value.shape
    assert CHANGES[name] not in STRUCTURE_CHANGES or result == value


@pytest.mark.parametrize("name", [c.name for c in STRUCTURE_CHANGES])
def test_arranged_values_are_of_the_size_that_they_had(name: str) -> None:
    values = torch.randn(64, 48)
    for seed in range(6):
        result = apply(name, values, seed=seed)
        assert result.abs().max() <= 2 * values.abs().max() or name == "low rank"
        assert 0.05 < result.square().mean().sqrt() < 4
        assert not torch.equal(result, values)


def test_what_the_file_draws_is_arranged_only_where_no_structure_is_seen() -> None:
    free, triangle, one_hot = torch.randn(64, 48), torch.randn(64, 64).tril(), torch.eye(64)
    half = torch.randn(64, 64)
    structured = (
        *(triangle, one_hot, half + half.T, torch.randn(64, 48).softmax(1), torch.randn(64, 48).softmax(0)),
        *(torch.randn(64, 48).sort(1).values, torch.nn.functional.normalize(torch.randn(64, 48), dim=1)),
        *(torch.ones(64, 48), torch.arange(64 * 48).reshape(64, 48), torch.randn(3), torch.randn(())),
    )
    for change in STRUCTURE_CHANGES:
        assert change.touches(free, None)
        assert not any(change.touches(t, None) for t in structured)
        assert change.touches(torch.rand(64, 48).bfloat16() - 0.5, None)


def test_signs_change_only_where_there_are_both() -> None:
    positive = torch.rand(64, 48)
    assert not CHANGES["alternating"].touches(positive, None)
    assert not CHANGES["alternating"].touches(positive, spec(DistributionKind.UNIFORM))
    assert (apply("alternating", torch.randn(64))[1::2] <= 0).all()


def test_indices_stay_in_their_range_and_reach_its_ends() -> None:
    values = torch.randint(2, 7, (4000,))
    for seed in range(4):
        assert apply("one index", values, INDICES, seed).unique().numel() == 1
        assert apply("ends of the range", values, INDICES, seed).unique().tolist() == [2, 6]
        skewed = apply("skewed indices", values, INDICES, seed)
        assert skewed.unique().tolist() == [2, 3, 4, 5, 6]
        assert skewed.bincount().max() > 2000
        assert skewed.dtype == torch.int64


@pytest.mark.parametrize("shape", [("n",), (3, 5), ()])
def test_special_values_are_those_declared_and_fill_a_row(shape: tuple[int | str, ...]) -> None:
    declared = replace(spec(DistributionKind.NORMAL, shape), special_values=("-inf", "nan"))
    values = torch.randn([AXES["n"] if n == "n" else int(n) for n in shape])
    result = apply("special values", values, declared)
    assert result.isnan().any() or (result == -math.inf).any()
    assert not (result == math.inf).any()
    assert torch.isfinite(values).all()
    if len(shape) == 2:
        assert (~result.isfinite()).all(1).any()
    assert not CHANGES["special values"].touches(values, NORMAL)


def touched(name: str, *declared: InputSpec) -> list[bool]:
    inputs = draw(declared, AXES, 1)
    return [
        isinstance(v, torch.Tensor) and CHANGES[name].touches(v, s)
        for v, s in zip(inputs, declared, strict=True)
    ]


def test_declared_structure_is_left_alone() -> None:
    declared = (
        NORMAL,
        spec(DistributionKind.UNIFORM, low=-1.0),
        spec(DistributionKind.ONE_HOT, ("n", "classes")),
        spec(DistributionKind.CONSTANT),
        INDICES,
        spec(DistributionKind.NORMAL, (), scalar=True),
    )
    for name in CHANGES:
        is_index, is_open = CHANGES[name] in INDEX_CHANGES, name in FLOATS
        assert touched(name, *declared) == [is_open, is_open, False, False, is_index, False]


def test_values_that_the_file_draws_are_scaled_but_not_shifted() -> None:
    assert CHANGES["enlarged"].touches(torch.eye(3), None)
    assert not CHANGES["enlarged"].touches(torch.arange(3), None)
    assert not CHANGES["shifted"].touches(torch.eye(3), None)
    assert not CHANGES["one index"].touches(torch.arange(3), None)


def test_only_what_a_change_touches_changes() -> None:
    kept, number = torch.ones(3, dtype=torch.int64), 2.5
    inputs: list[Input] = [torch.ones(3), kept, number]
    result = changed(inputs, None, {}, CHANGES["negated"], 1)
    assert result is not None
    assert torch.equal(torch.as_tensor(result[0]), -torch.ones(3))
    assert result[1] is kept
    assert result[2] is number
    assert changed([kept, number], None, {}, CHANGES["negated"], 1) is None


def test_enlarged_values_are_exactly_representable() -> None:
    assert math.log2(16.0).is_integer()
    values = torch.randn(100).bfloat16()
    assert torch.equal(apply("reduced", apply("enlarged", values)), values)
