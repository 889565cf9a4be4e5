"""Input values: declared distributions under a secret seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from evaluator.harness.tensors import DTYPES
from evaluator.judge.arena import Input
from evaluator.problem.contract import Distribution, DistributionKind, InputSpec
from evaluator.problem.expressions import evaluate, sizes


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
            low, high = bounds(d, axes)
            return torch.rand(shape, generator=generator).mul_(high - low).add_(low).to(dtype)
        case DistributionKind.INTEGER:
            low, high = bounds(d, axes)
            return torch.randint(int(low), int(high), shape, generator=generator).to(dtype)
        case DistributionKind.ZIPF:
            low, high = bounds(d, axes)
            return (int(low) + _zipf(int(high) - int(low), d.exponent, shape, generator)).to(dtype)
        case DistributionKind.ONE_HOT:
            chosen = torch.randint(shape[-1], shape[:-1], generator=generator)
            return torch.nn.functional.one_hot(chosen, shape[-1]).to(dtype)
        case DistributionKind.CONSTANT:
            return torch.full(shape, d.value, dtype=dtype)
        case DistributionKind.BERNOULLI:
            return torch.rand(shape, generator=generator) < d.p
    raise ValueError(d.kind)


def _zipf(count: int, exponent: float, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Ranks from 0, by inversion of their cumulated shares."""
    shares = torch.arange(1, count + 1, dtype=torch.float64).pow_(-exponent).cumsum_(0)
    drawn = torch.rand(shape, dtype=torch.float64, generator=generator) * shares[-1]
    return torch.searchsorted(shares, drawn, right=True).clamp_max_(count - 1)


def bounds(d: Distribution, axes: Mapping[str, int]) -> tuple[float, float]:
    """The ends of a range, with axes worked out."""
    return _bound(d.low, axes), _bound(d.high, axes)


def _bound(bound: float | str, axes: Mapping[str, int]) -> float:
    return evaluate(bound, axes) if isinstance(bound, str) else bound
