"""Values of the size that they have anyway, arranged as nobody draws them: what a fast path for the usual case misses.

Every function takes a floating tensor of at least one dimension and gives one of its shape, made of values that are in
it, or of their negatives and products. Rows are the vectors along the last dimension. What is repeated or put in order
is rounded to a grid first: sums of equal or growing values would otherwise show how somebody sums, not what.
"""

from __future__ import annotations

import math

import torch

SEEN = 4096
ROWS_SEEN = 64
FEW_BITS, GRID_BITS = 1, 6
BLOCKS = (2, 8, 32)
SHRUNK = 16.0
COMMON = 0.05
TOO_EVEN = 0.01


def sorted_rows(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Rows in order, rising or falling."""
    return _on_grid(t, GRID_BITS).sort(dim=-1, descending=_coin(generator)).values


def sorted_across(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """In order along another dimension than the last, where there is one."""
    dim = int(torch.randint(max(1, t.dim() - 1), (), generator=generator))
    return _on_grid(t, GRID_BITS).sort(dim=dim, descending=_coin(generator)).values


def one_large(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The largest value of each row at one chosen place (an end, the middle, beside a power of two), the rest small."""
    size = t.shape[-1]
    power = 1 << max(0, size.bit_length() - 1)
    places = [p for p in (0, size - 1, size // 2, power - 1, power) if 0 <= p < size]
    place = places[int(torch.randint(len(places), (), generator=generator))]
    largest = t.gather(-1, t.abs().argmax(-1, keepdim=True))
    small = t / SHRUNK
    small[..., place : place + 1] = largest
    return small


def equal_blocks(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Runs of one value along rows, as long as a vector register or as the row."""
    size = t.shape[-1]
    lengths = [b for b in BLOCKS if b < size] + [size]
    length = lengths[int(torch.randint(len(lengths), (), generator=generator))]
    return _on_grid(t, GRID_BITS).index_select(-1, torch.arange(size) // length * length)


def alternating(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Signs that alternate along rows."""
    return t.abs() * (1.0 - 2.0 * (torch.arange(t.shape[-1]) % 2).to(t.dtype))


def few_values(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A handful of different values, so that many comparisons are ties."""
    return _on_grid(t, FEW_BITS)


def clustered(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The largest values of each row beside one another, somewhere in it."""
    place = int(torch.randint(t.shape[-1], (), generator=generator))
    return _on_grid(t, GRID_BITS).sort(dim=-1, descending=True).values.roll(place, -1)


def low_rank(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Matrices of rank one, of the RMS that they had."""
    if t.dim() < 2:
        return t
    product = t[..., :, :1] * t[..., :1, :]
    size = t.square().mean().sqrt() / product.square().mean().sqrt().clamp_min(torch.finfo(t.dtype).tiny)
    return product * size


def seems_free(t: torch.Tensor) -> bool:
    """Whether nothing is to be seen that rearranging values would break: values that are common, order, symmetry,
    sums or norms that are all the same. Too few values tell nothing.
    """
    if t.dim() == 0 or t.numel() < ROWS_SEEN or t.shape[-1] < 2:
        return False
    seen = t.reshape(-1)[torch.linspace(0, t.numel() - 1, min(t.numel(), SEEN)).long()].float()
    common = float((seen == seen.mode().values).float().mean())
    rising = float((t.reshape(-1, t.shape[-1])[:ROWS_SEEN].float().diff(dim=-1) > 0).float().mean())
    return common < COMMON and 0.25 < rising < 0.75 and not _symmetric(t) and not _normalised(t)


def _symmetric(t: torch.Tensor) -> bool:
    if t.dim() < 2 or t.shape[-1] != t.shape[-2]:
        return False
    corner = t[..., :ROWS_SEEN, :ROWS_SEEN]
    return torch.equal(corner, corner.mT)


def _normalised(t: torch.Tensor) -> bool:
    """Whether sums or norms along one of the last two dimensions hardly differ."""
    if t.dim() < 2:
        return False
    matrix = t.reshape(-1, *t.shape[-2:])[0].float()
    return any(_even(vectors) for vectors in (matrix[:ROWS_SEEN], matrix[:, :ROWS_SEEN].mT))


def _even(vectors: torch.Tensor) -> bool:
    """Whether sums or norms of vectors are all nearly the same."""
    count, size = vectors.shape
    sums = torch.stack((vectors.sum(-1), vectors.square().sum(-1)))
    spread = sums.std(-1) / sums.mean(-1).abs() if count > 1 else torch.ones(2)
    return bool((spread < TOO_EVEN / size**0.5).any())


def _on_grid(t: torch.Tensor, bits: int) -> torch.Tensor:
    """The nearest multiples of a power of two, so many bits below the RMS."""
    rms = float(t.double().square().mean().sqrt())
    step = 2.0 ** (math.frexp(rms)[1] - 1 - bits)
    return (t / step).round() * step if rms else t.clone()


def _coin(generator: torch.Generator) -> bool:
    return bool(torch.randint(2, (), generator=generator))
