"""Bounds: what rounding explains passes at every scale, what is less exact than the reference fails."""

from __future__ import annotations

import math

import pytest
import torch

from evaluator.judge.arena import TensorSpec, contiguous_strides
from evaluator.judge.numerics import (
    SAMPLES,
    Comparison,
    OwnError,
    Truth,
    Yardstick,
    compare,
    compare_sample,
    own_error,
    sample_indices,
    truth,
)
from evaluator.problem.contract import Accuracy

ACCURACY = Accuracy()
SCALES = [1e-30, 1e-3, 1.0, 1e3, 1e30]


def spec_of(t: torch.Tensor) -> TensorSpec:
    return TensorSpec(tuple(t.shape), contiguous_strides(t.shape), str(t.dtype).removeprefix("torch."))


def row_sums(scale: float = 1.0, rows: int = 512) -> tuple[Truth, OwnError, torch.Tensor]:
    """A reference that sums rows: the truth, its own error, and its result in float32."""
    x = torch.randn(rows, 256, generator=torch.Generator().manual_seed(7)) * scale
    native = x.sum(1)
    found = truth(spec_of(native), native, x.double().sum(1))
    return found, own_error(found, native), native


def against(actual: torch.Tensor, scale: float = 1.0) -> Comparison:
    found, own, _ = row_sums(scale)
    return compare(actual, found, own, ACCURACY)


@pytest.mark.parametrize("scale", SCALES)
def test_the_reference_itself_and_the_rounded_truth_pass(scale: float) -> None:
    found, own, native = row_sums(scale)
    assert found.yardstick is Yardstick.FLOAT64
    for answer in (native, found.values.float()):
        result = compare(answer, found, own, ACCURACY)
        assert result.reason == ""
        assert result.largest <= 1
        assert result.rms <= 1


@pytest.mark.parametrize("scale", SCALES[1:4])
def test_an_answer_rounded_to_half_precision_fails(scale: float) -> None:
    found, _, _ = row_sums(scale)
    unit = found.values / scale
    result = against((unit.half().double() * scale).float(), scale)
    assert "of 512 elements are further off than allowed" in result.reason
    assert result.largest > 10


@pytest.mark.parametrize("relative", [1e-8, 1e-7, 3e-7, 1e-6, 1e-5, 1e-3])
def test_the_same_relative_error_has_the_same_outcome_at_every_scale(relative: float) -> None:
    outcomes = set()
    for scale in (2.0**-20, 2.0**-10, 1.0, 2.0**10, 2.0**20):
        found, own, _ = row_sums(scale)
        wrong = (found.values + relative * found.scale).float()
        result = compare(wrong, found, own, ACCURACY)
        outcomes.add((bool(result.reason), round(result.largest, 3)))
    assert len(outcomes) == 1


def test_an_output_near_zero_is_judged_by_the_scale_of_all() -> None:
    found, own, _ = row_sums()
    least = found.values.abs().argmin()
    answer = found.values.clone()
    answer[least] += 3 * own.largest * found.scale
    assert compare(answer.float(), found, own, ACCURACY).reason == ""
    answer[least] += 3 * own.largest * found.scale
    assert "1 of 512 elements" in compare(answer.float(), found, own, ACCURACY).reason


def test_a_small_error_everywhere_fails_by_its_rms() -> None:
    found, own, _ = row_sums()
    everywhere = found.values + 0.9 * 4 * own.largest * found.scale
    result = compare(everywhere.float(), found, own, ACCURACY)
    assert result.largest <= 1
    assert "the RMS error is" in result.reason


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_zeros_and_the_mean_fail(scale: float) -> None:
    found, _, _ = row_sums(scale)
    assert against(torch.zeros(512), scale).reason
    assert against(torch.full((512,), float(found.values.mean())), scale).reason


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_fails(value: float) -> None:
    found, own, native = row_sums()
    wrong = native.clone()
    wrong[3] = value
    result = compare(wrong, found, own, ACCURACY)
    assert result.reason == "1 of 512 elements are not finite"
    assert result.largest == math.inf


def test_a_reference_of_exact_arithmetic_allows_two_ulps() -> None:
    native = torch.ones(100)
    found = truth(spec_of(native), native, native.double())
    own = own_error(found, native)
    assert own == OwnError(0.0, 0.0)
    eps = torch.finfo(torch.float32).eps
    assert compare(native + eps, found, own, ACCURACY).reason == ""
    assert compare(native + 4 * eps, found, own, ACCURACY).reason


def test_a_truth_of_zeros_allows_nothing_but_zeros() -> None:
    native = torch.zeros(10)
    found = truth(spec_of(native), native, native.double())
    assert compare(native, found, OwnError(), ACCURACY).reason == ""
    assert compare(native + 1e-30, found, OwnError(), ACCURACY).reason


def test_the_contract_s_numbers_widen_and_narrow_the_bound() -> None:
    found, own, _ = row_sums()
    off = (found.values + 10 * own.largest * found.scale).float()
    assert compare(off, found, own, ACCURACY).reason
    assert compare(off, found, own, Accuracy(ratio=100.0, ulps=100.0)).reason == ""


@pytest.mark.parametrize(
    "double", [None, torch.full((64,), math.nan).double(), torch.zeros(3).double(), torch.zeros(64)]
)
def test_where_float64_gives_nothing_the_reference_is_its_own_yardstick(double: torch.Tensor | None) -> None:
    native = torch.randn(64, generator=torch.Generator().manual_seed(1))
    found = truth(spec_of(native), native, double)
    assert found.yardstick is Yardstick.NATIVE
    own = own_error(found, native)
    assert own == OwnError()
    assert compare(native * (1 + 5e-6), found, own, ACCURACY).reason == ""
    assert compare(native * (1 + 5e-4), found, own, ACCURACY).reason


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_integers_and_bools_must_be_equal(dtype: torch.dtype) -> None:
    native = torch.tensor([0, 1, 1, 0], dtype=dtype)
    found = truth(spec_of(native), native, None)
    assert found.yardstick is Yardstick.EXACT
    assert compare(native.clone(), found, OwnError(), ACCURACY) == Comparison("", 0.0, 0.0)
    wrong = native.clone()
    wrong[2] = 0
    assert compare(wrong, found, OwnError(), ACCURACY).reason == "1 of 4 elements differ"


def test_a_bool_of_another_byte_than_true_s_is_wrong() -> None:
    native = torch.tensor([True, False])
    strange = torch.tensor([2, 0], dtype=torch.uint8).view(torch.bool)
    found = truth(spec_of(native), native, None)
    assert compare(strange, found, OwnError(), ACCURACY).reason
    assert not compare_sample(strange, torch.tensor([0, 1]), found, OwnError(), ACCURACY)


def test_empty_outputs_are_right() -> None:
    native = torch.empty(0, 4)
    found = truth(spec_of(native), native, native.double())
    own = own_error(found, native)
    assert compare(native, found, own, ACCURACY).reason == ""
    assert sample_indices(found, torch.Generator()).numel() == 0


def test_own_error_is_widened_each_way() -> None:
    assert OwnError(1.0, 4.0).widened(OwnError(2.0, 3.0)) == OwnError(2.0, 4.0)


def test_a_sample_is_right_only_where_every_element_is() -> None:
    found, own, native = row_sums()
    indices = torch.tensor([5, 17, 300])
    assert compare_sample(native[indices], indices, found, own, ACCURACY)
    for wrong in (math.nan, 0.0):
        sampled = native[indices].clone()
        sampled[1] = wrong
        assert not compare_sample(sampled, indices, found, own, ACCURACY)
    assert not compare_sample(native[indices], indices + 1, found, own, ACCURACY)


def sampled_from(values: torch.Tensor, seed: int = 1) -> torch.Tensor:
    return sample_indices(truth(spec_of(values), values, None), torch.Generator().manual_seed(seed))


def test_half_of_the_sample_lies_where_values_are_unusual() -> None:
    values = torch.zeros(1000, dtype=torch.int64)
    values[::10] = torch.arange(1, 101)
    indices = sampled_from(values)
    assert indices.numel() == SAMPLES
    assert (values[indices] != 0).sum() >= SAMPLES // 2
    assert ((indices >= 0) & (indices < 1000)).all()


def test_constant_outputs_are_sampled_anywhere_and_secrets_decide_where() -> None:
    values = torch.ones(40, 50, dtype=torch.int32)
    assert sampled_from(values).numel() == SAMPLES
    assert (
        sampled_from(values, 1).tolist()
        == sampled_from(values, 1).tolist()
        != sampled_from(values, 2).tolist()
    )
    assert sampled_from(torch.tensor([True])).unique().tolist() == [0]


INF, NAN = float("inf"), float("nan")


def special(native: list[float], double: list[float] | None = None) -> Truth:
    """A truth in float32 with the reference's values, the same in float64 unless others are given."""
    values = torch.tensor(native)
    return truth(
        TensorSpec((4,), (1,), "float32"), values, torch.tensor(double or native, dtype=torch.float64)
    )


@pytest.mark.parametrize(
    ("actual", "right"),
    [
        ([1.0, INF, NAN, -INF], True),
        ([1.0, -INF, NAN, -INF], False),
        ([1.0, 1e38, NAN, -INF], False),
        ([1.0, INF, 0.0, -INF], False),
        ([NAN, INF, NAN, -INF], False),
        ([1.1, INF, NAN, -INF], False),
    ],
)
def test_infinities_and_nan_must_be_where_they_are_and_nothing_else(actual: list[float], right: bool) -> None:
    expected, own = special([1.0, INF, NAN, -INF]), OwnError(1e-7, 1e-7)
    assert (compare(torch.tensor(actual), expected, own, ACCURACY).reason == "") == right
    indices = torch.arange(4)
    assert compare_sample(torch.tensor(actual), indices, expected, own, ACCURACY) == right


def test_special_values_leave_scale_and_error_to_the_others() -> None:
    expected = special([3.0, INF, 4.0, NAN])
    assert expected.yardstick is Yardstick.FLOAT64
    assert expected.scale == pytest.approx(12.5**0.5)
    error = own_error(expected, torch.tensor([3.0, INF, 4.0 + 1e-6, NAN]))
    assert 0 < error.largest < 1e-6


def test_an_overflow_that_float64_does_not_have_leaves_the_reference_as_its_own_yardstick() -> None:
    assert special([1.0, INF, 2.0, 3.0], [1.0, 1e39, 2.0, 3.0]).yardstick is Yardstick.NATIVE
