"""How fast this machine can be at best, and the least time that a workload can take for that reason.

The ceilings are those of the runners' cores together, by native loops of our own: reading and writing what stays in
a core's own cache, streaming what does not fit into any, multiplying and adding in registers. The floor of a time
uses the cache's bandwidth only: inputs and outputs of a call may lie in caches, and an honest kernel must never be
below its floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

import torch

from evaluator.harness.wire import Load
from evaluator.judge.arena import TensorSpec
from evaluator.judge.seat import Seat
from evaluator.problem.candidate import Candidate, Language

CALLS = 5
MARGIN = 1.5
"""By how much a core may be faster in another moment than it was in the best of the calibration's."""
WORKING_SETS = tuple(1 << n for n in (13, 16, 19, 22, 25, 27))
"""Bytes for each core: from what the innermost cache holds to what none does."""
MULTIPLY = 0
_MODE = TensorSpec((1,), (1,), "int64")
_WORK = TensorSpec((1,), (1,), "float64")


@dataclass(frozen=True)
class Bandwidth:
    """Bytes per second of loads and stores together, on a working set of so many bytes on all cores together."""

    working_set: int
    rate: float


@dataclass(frozen=True)
class Ceilings:
    """Bandwidths by working set, the smallest first, and float32 operations per second."""

    bandwidths: tuple[Bandwidth, ...]
    float32_rate: float

    @property
    def cache_bandwidth(self) -> float:
        """The best bandwidth there is, whatever the working set."""
        return max(b.rate for b in self.bandwidths)

    def bandwidth(self, moved: int) -> float:
        """Bytes per second at most where `moved` bytes are moved: the best from the next smaller working set on."""
        smaller = [b.working_set for b in self.bandwidths if b.working_set <= moved]
        start = max(smaller, default=0)
        return max(b.rate for b in self.bandwidths if b.working_set >= start)

    def floor(self, moved: int) -> float:
        """The least seconds in which `moved` bytes can be read or written, by far not reached by real kernels."""
        return moved / (MARGIN * self.cache_bandwidth)


def ceiling_loops() -> Candidate:
    """The loops whose rates are the ceilings."""
    source = resources.files("evaluator.judge") / "native" / "ceilings.cpp"
    return Candidate({"candidate.cpp": source.read_text()}, Language.CPP)


def measure(start: Callable[[], Seat], threads: int, library: int, constant: float) -> Ceilings:
    """The best of a few calls of each loop, in a runner of its own. `library`: the built `ceiling_loops`."""
    seat = start()
    try:
        seat.load(Load({}, "candidate.py", "kernelwright_run", "", True, threads, 1, 0, 1), [library])
        seat.construct("ceilings", None, 0)
        seat.bind("ceilings", "ceilings", [torch.zeros(1, dtype=torch.int64)], [_MODE], [_WORK])
        moved = [_rate(seat, size, constant) for size in WORKING_SETS]
        multiplied = _rate(seat, MULTIPLY, constant)
    finally:
        seat.close()
    found = [Bandwidth(size * threads, rate) for size, rate in zip(WORKING_SETS, moved, strict=True)]
    return Ceilings(tuple(found), multiplied)


def _rate(seat: Seat, mode: int, constant: float) -> float:
    """Units of work per second: the loop says how many it does, and the judge how long it took."""
    values = [torch.tensor([mode])]
    answers = [seat.call("ceilings", values, [torch.tensor([0])], warm_up=n == 0) for n in range(CALLS)]
    return max(float(a.outputs[0]) / (a.released.nanoseconds * 1e-9 - constant) for a in answers)
