"""How far an output may be from the truth, and how far it is.

Truth is the reference run in float64 on the same inputs. The yardstick is the reference's own error at its dtype, as
a multiple of the output's scale (its RMS): the largest of the first rounds, which stays, or that of the very round
where it is larger. For element i with true value e_i,

    |c_i - e_i|  <=  ratio * own_max * scale  +  ulps * eps * max(scale, |e_i|)
    RMS(c - e)   <=  ratio * own_rms * scale  +  ulps * eps * scale

with `ratio` and `ulps` from the contract's accuracy and eps of the output's dtype. Where the reference cannot run in
float64, e is its own output, and the bounds are max(fallback_rtol, ulps * eps) times max(scale, |e_i|), and times
the scale for the RMS. Integer and bool outputs must be equal to the reference's.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from evaluator.harness.tensors import DTYPES
from evaluator.judge.arena import TensorSpec
from evaluator.problem.contract import Accuracy

SAMPLES = 32
MODE_POOL = 1024
PIECE = 1 << 16
"""Elements that are compared at a time: 0.5 MB in float64."""


class Yardstick(enum.StrEnum):
    """What an output is held against."""

    FLOAT64 = "float64"
    NATIVE = "native"  # the reference at its own dtype: it cannot run in float64
    EXACT = "exact"


@dataclass(frozen=True)
class OwnError:
    """The reference's own error as a multiple of the output's RMS: largest and RMS."""

    largest: float = 0.0
    rms: float = 0.0

    def widened(self, other: OwnError) -> OwnError:
        """The larger of both, each way."""
        return OwnError(max(self.largest, other.largest), max(self.rms, other.rms))

    def times(self, factor: float) -> OwnError:
        """So many times as large."""
        return OwnError(factor * self.largest, factor * self.rms)


@dataclass(frozen=True)
class Truth:
    """What one output should be in one round. `values` is float64, or the reference's dtype where exact.

    special: where they are infinite or NaN, where any are: a candidate must have the same there.
    """

    spec: TensorSpec
    yardstick: Yardstick
    values: torch.Tensor
    scale: float
    special: torch.Tensor | None = None

    @property
    def ordinary(self) -> Truth:
        """The finite values alone, as a vector."""
        assert self.special is not None
        return replace(self, values=self.values[~self.special], special=None)


@dataclass(frozen=True)
class Comparison:
    """How an output compares. The ratios are of error to bound: 1 is just allowed. Empty `reason`: right."""

    reason: str
    largest: float
    rms: float


def truth(spec: TensorSpec, native: torch.Tensor, double: torch.Tensor | None) -> Truth:
    """The truth of an output from the reference's result at its dtype and, where there is one, in float64."""
    if not native.dtype.is_floating_point:
        return Truth(spec, Yardstick.EXACT, native, 0.0)
    comparable = double is not None and double.dtype == torch.float64 and double.shape == native.shape
    if not all_finite(native):
        return _special_truth(spec, native, double if comparable else None)
    if double is not None and comparable and all_finite(double):
        return Truth(spec, Yardstick.FLOAT64, double, _rms(double))
    values = native.double()
    return Truth(spec, Yardstick.NATIVE, values, _rms(values))


def _special_truth(spec: TensorSpec, native: torch.Tensor, double: torch.Tensor | None) -> Truth:
    """As `truth`, with infinities or NaN among the values; float64 counts where it has the same ones."""
    special = ~torch.isfinite(native)
    values, yardstick = native.double(), Yardstick.NATIVE
    same_places = double is not None and torch.equal(~torch.isfinite(double), special)
    if double is not None and same_places and _same(double[special], values[special]):
        values, yardstick = double, Yardstick.FLOAT64
    return Truth(spec, yardstick, values, _rms(values[~special]), special)


def all_finite(values: torch.Tensor) -> bool:
    """Whether there is no NaN or infinity among floats; ten times faster than asking each element."""
    if values.numel() == 0:
        return True
    lowest, highest = torch.aminmax(values)
    return math.isfinite(float(lowest)) and math.isfinite(float(highest))


def own_error(truth: Truth, native: torch.Tensor, single: torch.Tensor | None = None) -> OwnError:
    """The reference's own error in this round. Zero where there is nothing to compare it with.

    single: its result in float32, for an output in float64, which is its own truth: the error of the one, made
    smaller by the ratio of their eps, stands for that of the other.
    """
    if truth.special is not None:
        keep = ~truth.special
        return own_error(truth.ordinary, native[keep], None if single is None else single[keep])
    if truth.yardstick is not Yardstick.FLOAT64 or truth.values.numel() == 0:
        return OwnError()
    told, share = native, 1.0
    if native.dtype == torch.float64 and single is not None and _comparable(single, native):
        told, share = single, torch.finfo(torch.float64).eps / torch.finfo(torch.float32).eps
    scale = max(truth.scale, torch.finfo(native.dtype).tiny)
    largest, squares = 0.0, 0.0
    for error, _ in _errors(told, truth.values):
        largest = max(largest, float(error.max()))
        squares += float(error.dot(error))
    return OwnError(share * largest / scale, share * math.sqrt(squares / told.numel()) / scale)


def _comparable(single: torch.Tensor, native: torch.Tensor) -> bool:
    return single.dtype == torch.float32 and single.shape == native.shape and all_finite(single)


def compare(actual: torch.Tensor, truth: Truth, own: OwnError, accuracy: Accuracy) -> Comparison:
    """Hold a whole output against the truth. Its shape and dtype have been checked."""
    expected = truth.values
    if truth.special is not None:
        if not _same(actual[truth.special].double(), expected[truth.special]):
            return Comparison("infinities or NaN are not where they should be", math.inf, math.inf)
        return compare(actual[~truth.special], truth.ordinary, own, accuracy)
    if truth.yardstick is Yardstick.EXACT:
        wrong = _unequal(actual, expected)
        return Comparison(
            f"{wrong} of {expected.numel()} elements differ" if wrong else "", float(wrong > 0), 0.0
        )
    if expected.numel() == 0:
        return Comparison("", 0.0, 0.0)
    count = expected.numel()
    largest, squares, wrong = 0.0, 0.0, 0
    for error, true in _errors(actual, expected):
        squares += float(error.dot(error))
        relative = error.div_(_bounds(true, truth, own, accuracy))
        worst = float(relative.max())
        largest = max(largest, worst if math.isfinite(worst) else math.inf)
        if largest > 1:
            wrong += int((relative > 1).sum())
    if math.isinf(largest) and (unusable := int((~torch.isfinite(actual)).sum())):
        return Comparison(f"{unusable} of {count} elements are not finite", math.inf, math.inf)
    rms = math.sqrt(squares / count) / rms_bound(truth, own, accuracy)
    return Comparison(_sentence(wrong, count, largest, rms), largest, rms)


def compare_sample(
    actual: torch.Tensor, indices: torch.Tensor, truth: Truth, own: OwnError, accuracy: Accuracy
) -> bool:
    """Whether every sampled element (flat `indices`) is within its bound."""
    expected = truth.values.reshape(-1)[indices]
    if truth.yardstick is Yardstick.EXACT:
        return _unequal(actual, expected) == 0
    odd = ~torch.isfinite(expected)
    error = (actual.double() - expected).abs_()
    return bool((odd | (error <= _bounds(expected, truth, own, accuracy))).all()) and _same(
        actual[odd].double(), expected[odd]
    )


def _errors(actual: torch.Tensor, expected: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Absolute errors in float64, flat and a piece at a time, each with what was expected.

    A piece fits into a cache, and an output of any size is verified in the memory of one piece.
    """
    for ours, true in zip(_pieces(actual), _pieces(expected), strict=True):
        yield (true - ours).abs_(), true


def _pieces(values: torch.Tensor) -> Iterator[torch.Tensor]:
    flat = values.reshape(-1)
    return (flat[start : start + PIECE] for start in range(0, flat.numel(), PIECE))


def sample_indices(truth: Truth, generator: torch.Generator) -> torch.Tensor:
    """Flat indices to look at inside the clock: half of them anywhere, half where the value is not the commonest."""
    count = truth.values.numel()
    if count == 0:
        return torch.empty(0, dtype=torch.int64)
    pool = torch.randint(count, (MODE_POOL,), generator=generator)
    values = truth.values.reshape(-1)[pool]
    unusual = pool[values != values.mode().values]
    half = min(SAMPLES // 2, unusual.numel())
    return torch.cat((unusual[:half], pool[: SAMPLES - half])).clone()


def _bounds(expected: torch.Tensor, truth: Truth, own: OwnError, accuracy: Accuracy) -> torch.Tensor:
    info = torch.finfo(DTYPES[truth.spec.dtype])
    magnitude = expected.abs().clamp_(min=truth.scale)
    if truth.yardstick is Yardstick.NATIVE:
        relative = max(accuracy.fallback_rtol, accuracy.ulps * info.eps)
        return magnitude.mul_(relative).add_(info.tiny)
    floor = accuracy.ratio * own.largest * truth.scale + info.tiny
    return magnitude.mul_(accuracy.ulps * info.eps).add_(floor)


def rms_bound(truth: Truth, own: OwnError, accuracy: Accuracy) -> float:
    """The RMS error that is allowed of a float output."""
    info = torch.finfo(DTYPES[truth.spec.dtype])
    if truth.yardstick is Yardstick.NATIVE:
        return max(accuracy.fallback_rtol, accuracy.ulps * info.eps) * truth.scale + float(info.tiny)
    return (accuracy.ratio * own.rms + accuracy.ulps * info.eps) * truth.scale + float(info.tiny)


def _sentence(wrong: int, count: int, largest: float, rms: float) -> str:
    if wrong:
        return f"{wrong} of {count} elements are further off than allowed, the worst {largest:.3g} times"
    if rms > 1:
        return f"the RMS error is {rms:.3g} times what is allowed"
    return ""


def _rms(values: torch.Tensor) -> float:
    """The root of the mean square, of float64."""
    squares = math.fsum(float(piece.dot(piece)) for piece in _pieces(values))
    return math.sqrt(squares / values.numel()) if values.numel() else 0.0


def _same(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether infinities are of the same sign, and NaN where NaN is."""
    return bool(((actual == expected) | (actual.isnan() & expected.isnan())).all())


def _unequal(actual: torch.Tensor, expected: torch.Tensor) -> int:
    """How many elements differ. The byte of a bool may be any; zeros of either sign are equal."""
    if actual.dtype == torch.bool:
        return int((actual.view(torch.uint8) != expected.view(torch.uint8)).sum())
    return int((actual != expected).sum())
