"""What judge and runner say to one another on CUDA, besides what `evaluator.harness.wire` has for every device.

Calls go over the channel: one message each way, the runner's after the device has nothing left to do.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.harness.wire import MESSAGES, Bind, Located, Schema, SetState


@dataclass(frozen=True)
class Open:
    """Take a device, by number. Descriptor: the allocator (`pool.cpp`), built.

    pool_address, pool_size: the part of the range from which torch's memory comes.
    """

    device: int
    pool_address: int
    pool_size: int


@dataclass(frozen=True)
class BindAt:
    """`bind`, with its memory at an address of the range."""

    bind: Bind
    address: int


@dataclass(frozen=True)
class SetStateAt:
    """`state`, with its memory at an address of the range. A module copies it; a function is given it as it is, and
    must not write there."""

    state: SetState
    address: int


@dataclass(frozen=True)
class Call:
    """Make one call of a binding. Answered by an Outcome."""

    number: int


@dataclass(frozen=True)
class Capture:
    """Capture a call of a binding as a plan."""

    number: int


@dataclass(frozen=True)
class Captured:
    """Descriptors: the plan as JSON, then the cubins; `sizes` are theirs in bytes. `outputs` are where calls of the
    plan leave what they return."""

    sizes: tuple[int, ...]
    outputs: tuple[Located, ...]


@dataclass(frozen=True)
class Unliftable:
    """The call cannot be a plan."""

    reason: str


@dataclass(frozen=True)
class Export:
    """Give out the memory that torch holds."""


@dataclass(frozen=True)
class Segment:
    """Device memory at an address."""

    address: int
    size: int


@dataclass(frozen=True)
class Exported:
    """Descriptors: one for each segment."""

    segments: tuple[Segment, ...]


SCHEMA = Schema(
    *MESSAGES, Open, BindAt, SetStateAt, Call, Capture, Captured, Unliftable, Export, Segment, Exported
)
