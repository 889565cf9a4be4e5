"""What judge and launcher say to one another: one reply to each request. Bytes that are long travel as descriptors."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.harness.wire import Schema


@dataclass(frozen=True)
class Open:
    """Take a device, by number."""

    device: int


@dataclass(frozen=True)
class Map:
    """Lay the memory that comes as a descriptor at an address."""

    address: int
    size: int


@dataclass(frozen=True)
class Unmap:
    """Let all memory go, and the plan with it."""


@dataclass(frozen=True)
class Plan:
    """Make a plan the one that runs. Descriptors: the plan as JSON, then the cubins; `sizes` are theirs in bytes."""

    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """Make one call."""


Request = Open | Map | Unmap | Plan | Run


@dataclass(frozen=True)
class Done:
    """It was carried out."""


@dataclass(frozen=True)
class Ran:
    """The call is over; seconds between the events around it."""

    seconds: float


@dataclass(frozen=True)
class Refused:
    """The plan cannot run."""

    text: str


@dataclass(frozen=True)
class Failed:
    """The driver failed. `sticky`: this process is of no use any more."""

    text: str
    sticky: bool


SCHEMA = Schema(Open, Map, Unmap, Plan, Run, Done, Ran, Refused, Failed)
