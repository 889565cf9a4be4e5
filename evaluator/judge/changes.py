"""Changes of nominal values that hidden rounds try: larger, smaller, shifted, arranged, with other indices.

Where values are declared, a change is tried on what the declaration leaves open. Where the file draws its values
itself, their structure is not declared: they are scaled and negated, and rearranged only where no structure is seen.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from evaluator.judge import structure
from evaluator.judge.arena import Input
from evaluator.judge.draw import bounds
from evaluator.problem.contract import DistributionKind, InputSpec

FACTOR = 16.0
SHIFT = 3.0
OUTLIER_SHARE = 0.01
OUTLIER_FACTOR = 100.0
SKEW = 4.0
SPECIAL_SHARE = 0.02
ARRANGED_SLACK = 4.0

_OPEN = (DistributionKind.NORMAL, DistributionKind.UNIFORM)
_RANGES = (DistributionKind.INTEGER, DistributionKind.ZIPF)


class Where(enum.Enum):
    """Which floating inputs a change may be tried on."""

    ANY = enum.auto()  # declared normal or uniform, or not declared at all
    DECLARED = enum.auto()  # declared normal or uniform
    FREE = enum.auto()  # declared so, or not declared and without structure to be seen
    SIGNED = enum.auto()  # as FREE, with values of both signs


_ARRANGED = (Where.FREE, Where.SIGNED)


@dataclass(frozen=True)
class Change(ABC):
    """A kind of values, made from nominal ones.

    finite: whether outputs must be finite to be compared. slack: by how much the error allowed is wider than it is for
    nominal values; arranged ones are for finding another operation, not another order of sums.
    """

    name: str
    finite: bool = field(default=True, kw_only=True)
    slack: float = field(default=1.0, kw_only=True)

    @abstractmethod
    def touches(self, value: torch.Tensor, declared: InputSpec | None) -> bool:
        """Whether it may be tried on an input. `declared`: None where the file draws its own."""

    @abstractmethod
    def apply(
        self,
        value: torch.Tensor,
        declared: InputSpec | None,
        axes: Mapping[str, int],
        generator: torch.Generator,
    ) -> torch.Tensor:
        """The changed values, in the dtype of `value`, which stays as it is."""


@dataclass(frozen=True)
class ValueChange(Change):
    """Other floating values. `make` gets float64 or float32."""

    make: Callable[[torch.Tensor, torch.Generator], torch.Tensor]
    where: Where = Where.ANY

    def touches(self, value: torch.Tensor, declared: InputSpec | None) -> bool:
        if not value.is_floating_point() or (self.where is Where.SIGNED and not bool((value < 0).any())):
            return False
        if declared is not None:
            return declared.distribution.kind in _OPEN
        return self.where is Where.ANY or (self.where in _ARRANGED and structure.seems_free(value))

    def apply(
        self,
        value: torch.Tensor,
        declared: InputSpec | None,
        axes: Mapping[str, int],
        generator: torch.Generator,
    ) -> torch.Tensor:
        if value.dim() == 0 and self.where in _ARRANGED:
            return value
        wide = value if value.dtype == torch.float64 else value.float()
        return self.make(wide, generator).to(value.dtype)


@dataclass(frozen=True)
class IndexChange(Change):
    """Other integers of the declared range. `make` gives their places in it, from 0 to 1."""

    make: Callable[[tuple[int, ...], torch.Generator], torch.Tensor]

    def touches(self, value: torch.Tensor, declared: InputSpec | None) -> bool:
        return declared is not None and declared.distribution.kind in _RANGES

    def apply(
        self,
        value: torch.Tensor,
        declared: InputSpec | None,
        axes: Mapping[str, int],
        generator: torch.Generator,
    ) -> torch.Tensor:
        assert declared is not None
        low, high = bounds(declared.distribution, axes)
        count = int(high) - int(low)
        places = self.make(tuple(value.shape), generator).double() * count
        return (int(low) + places.long().clamp_max(count - 1)).to(value.dtype)


@dataclass(frozen=True)
class SpecialChange(Change):
    """Infinities and NaN, where they are declared: at random places, and all along a row of its own for each."""

    def touches(self, value: torch.Tensor, declared: InputSpec | None) -> bool:
        return declared is not None and bool(declared.special_values)

    def apply(
        self,
        value: torch.Tensor,
        declared: InputSpec | None,
        axes: Mapping[str, int],
        generator: torch.Generator,
    ) -> torch.Tensor:
        assert declared is not None
        result = value.clone()
        rows = result.view(-1, result.shape[-1]) if result.dim() else result.view(1, 1)
        for special in map(float, declared.special_values):
            rows[torch.rand(rows.shape, generator=generator) < SPECIAL_SHARE] = special
            rows[int(torch.randint(len(rows), (), generator=generator))] = special
        return result


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


def _ends(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """The first and the last of the range, at random."""
    return torch.randint(2, shape, generator=generator)


def _skewed(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Most near one end of the range, as words of a text and sizes of groups are."""
    places = torch.rand(shape, generator=generator).double() ** SKEW
    return places if torch.randint(2, (), generator=generator) else 1.0 - places


def integers(size: int) -> Change:
    """Integers of at most that size, of both signs where there are both."""

    def make(t: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        low = -size if bool((t < 0).any()) else 0
        return torch.randint(low, size + 1, t.shape, generator=generator).to(t.dtype)

    return ValueChange(f"exact up to {size}", make, Where.FREE)


VALUE_CHANGES = (
    ValueChange("enlarged", lambda t, g: t * FACTOR),
    ValueChange("reduced", lambda t, g: t / FACTOR),
    ValueChange("negated", lambda t, g: -t),
    ValueChange("negative", lambda t, g: -t.abs()),
    ValueChange("shifted", lambda t, g: t + SHIFT, Where.DECLARED),
    ValueChange("constant", lambda t, g: torch.full_like(t, 0.5), Where.DECLARED),
    ValueChange("integers", lambda t, g: (t * 4).round(), Where.DECLARED),
)
STRUCTURE_CHANGES = tuple(
    ValueChange(name, make, where, slack=ARRANGED_SLACK)
    for name, make, where in (
        ("sorted", structure.sorted_rows, Where.FREE),
        ("sorted across", structure.sorted_across, Where.FREE),
        ("one large", structure.one_large, Where.FREE),
        ("equal blocks", structure.equal_blocks, Where.FREE),
        ("few values", structure.few_values, Where.FREE),
        ("clustered", structure.clustered, Where.FREE),
        ("low rank", structure.low_rank, Where.FREE),
        ("alternating", structure.alternating, Where.SIGNED),
    )
)
INDEX_CHANGES = (
    IndexChange("one index", lambda shape, g: torch.rand((), generator=g).expand(shape)),
    IndexChange("ends of the range", _ends),
    IndexChange("skewed indices", _skewed),
)
HIDDEN_CHANGES: tuple[Change, ...] = (
    *VALUE_CHANGES,
    *STRUCTURE_CHANGES,
    *INDEX_CHANGES,
    SpecialChange("special values", finite=False),
)
NUMERIC_CHANGES = (
    ValueChange("outliers", _outliers),
    ValueChange("cancelling", _cancelling, Where.DECLARED),
    ValueChange("skewed", lambda t, g: t.abs() * t),
)
ALL_CHANGES: tuple[Change, ...] = (*HIDDEN_CHANGES, *NUMERIC_CHANGES)


def changed(
    inputs: Sequence[Input],
    declared: Sequence[InputSpec] | None,
    axes: Mapping[str, int],
    change: Change,
    seed: int,
) -> list[Input] | None:
    """The inputs with every tensor changed that the change may be tried on; None where there is none."""
    generator = torch.Generator().manual_seed(seed)
    specs = [None] * len(inputs) if declared is None else declared
    touched = [
        isinstance(v, torch.Tensor) and change.touches(v, s) for v, s in zip(inputs, specs, strict=True)
    ]
    if not any(touched):
        return None
    return [
        change.apply(v, s, axes, generator) if ok and isinstance(v, torch.Tensor) else v
        for v, s, ok in zip(inputs, specs, touched, strict=True)
    ]
