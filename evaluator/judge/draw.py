"""Input values: declared distributions under a secret seed, and the changes of value that hidden rounds try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from evaluator.harness.tensors import DTYPES
from evaluator.judge.arena import Input
from evaluator.problem.contract import Distribution, DistributionKind, InputSpec
from evaluator.problem.expressions import evaluate, sizes

FACTOR = 16.0
SHIFT = 3.0
OUTLIER_SHARE = 0.01
OUTLIER_FACTOR = 100.0


def draw(inputs: Sequence[InputSpec], axes: Mapping[str, int], seed: int) -> list[Input]:
    """One set of inputs. Tensors are contiguous; the arena lays them out."""
    generator = torch.Generator().manual_seed(seed)
    return [_draw(spec, axes, generator) for spec in inputs]


def _draw(spec: InputSpec, axes: Mapping[str, int], generator: torch.Generator) -> Input:
    shape = () if spec.scalar else sizes(spec.shape, axes)
    values = _values(spec.distribution, shape, axes, generator, DTYPES[spec.dtype])
    return values.item() if spec.scalar else values


def _values(
    d: Distribution,
    shape: tuple[int, ...],
    axes: Mapping[str, int],
    generator: torch.Generator,
    dtype: torch.dtype,
) -> torch.Tensor:
    match d.kind:
        case DistributionKind.NORMAL:
            return torch.randn(shape, generator=generator).mul_(d.std).add_(d.mean).to(dtype)
        case DistributionKind.UNIFORM:
            low, high = (_bound(b, axes) for b in (d.low, d.high))
            return torch.rand(shape, generator=generator).mul_(high - low).add_(low).to(dtype)
        case DistributionKind.INTEGER:
            low, high = (int(_bound(b, axes)) for b in (d.low, d.high))
            return torch.randint(low, high, shape, generator=generator).to(dtype)
        case DistributionKind.ONE_HOT:
            chosen = torch.randint(shape[-1], shape[:-1], generator=generator)
            return torch.nn.functional.one_hot(chosen, shape[-1]).to(dtype)
        case DistributionKind.CONSTANT:
            return torch.full(shape, d.value, dtype=dtype)
        case DistributionKind.BERNOULLI:
            return torch.rand(shape, generator=generator) < d.p
    raise ValueError(d.kind)


def _bound(bound: float | str, axes: Mapping[str, int]) -> float:
    return evaluate(bound, axes) if isinstance(bound, str) else bound


@dataclass(frozen=True)
class Change:
    """A change of value. `structural` ones may break structure that is not declared (triangles, one-hot rows)."""

    name: str
    apply: Callable[[torch.Tensor, torch.Generator], torch.Tensor]
    structural: bool


def _outliers(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One in a hundred at random places, and one in every row along the last dimension."""
    chosen = torch.rand(t.shape, generator=generator) < OUTLIER_SHARE
    if t.dim() and t.numel():
        one = torch.randint(t.shape[-1], (*t.shape[:-1], 1), generator=generator)
        chosen.scatter_(-1, one, True)
    return torch.where(chosen, t * OUTLIER_FACTOR, t)


def _cancelling(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Large values of alternating sign along the last dimension, so that sums cancel."""
    if t.dim() == 0:
        return t
    signs = 1.0 - 2.0 * (torch.arange(t.shape[-1]) % 2).to(t.dtype)
    return t + FACTOR * signs


VALUE_CHANGES = (
    Change("enlarged", lambda t, g: t * FACTOR, False),
    Change("reduced", lambda t, g: t / FACTOR, False),
    Change("negated", lambda t, g: -t, False),
    Change("negative", lambda t, g: -t.abs(), False),
    Change("shifted", lambda t, g: t + SHIFT, True),
    Change("constant", lambda t, g: torch.full_like(t, 0.5), True),
    Change("integers", lambda t, g: (t * 4).round(), True),
)
NUMERIC_CHANGES = (
    Change("outliers", _outliers, False),
    Change("cancelling", _cancelling, True),
    Change("skewed", lambda t, g: t.abs() * t, False),
)


def changed(inputs: Sequence[Input], change: Change, eligible: Sequence[bool], seed: int) -> list[Input]:
    """The inputs with every eligible floating tensor changed."""
    generator = torch.Generator().manual_seed(seed)
    return [
        change.apply(v.float(), generator).to(v.dtype) if ok and isinstance(v, torch.Tensor) else v
        for v, ok in zip(inputs, eligible, strict=True)
    ]


def eligible(inputs: Sequence[Input], declared: Sequence[InputSpec] | None, change: Change) -> list[bool]:
    """Which inputs a change may be tried on: floating tensors; structural changes only where normal or uniform
    values are declared."""
    plain = (DistributionKind.NORMAL, DistributionKind.UNIFORM)
    allowed = [declared is not None and declared[i].distribution.kind in plain for i in range(len(inputs))]
    return [
        isinstance(v, torch.Tensor)
        and v.is_floating_point()
        and (ok or (declared is None and not change.structural))
        for v, ok in zip(inputs, allowed, strict=True)
    ]
