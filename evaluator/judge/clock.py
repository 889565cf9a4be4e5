"""The judge's core, and what this machine can tell apart: pinning, the constant of a released call, resolution."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from evaluator.harness.wire import Load
from evaluator.judge.arena import TensorSpec
from evaluator.judge.seat import Seat

NOOP_SOURCE = """
import torch

_result = torch.zeros(4096)


def functional(x):
    return _result


def destination(x, y):
    pass
"""
NOOP_CALLS = 200
LEAST_QUIET = 20
LEAST_RESOLUTION = 50e-6
SHARE_IN_DOUBT = 0.1
_SPEC = TensorSpec((4096,), (1,), "float32")


@dataclass(frozen=True)
class Cores:
    """Which CPUs are whose. With one core both share it, and no time is worth anything."""

    judge: int
    runners: tuple[int, ...]

    @property
    def threads(self) -> int:
        """Threads of baseline and candidate alike."""
        return len(self.runners)

    @property
    def shared(self) -> bool:
        """Whether the judge has no core of its own."""
        return self.judge in self.runners


def split_cores() -> Cores:
    """The first allowed CPU for the judge, all others for runners."""
    first, *others = sorted(os.sched_getaffinity(0))
    return Cores(first, tuple(others) or (first,))


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """This thread on one core, with one torch thread, for the time of the block."""
    before, threads = os.sched_getaffinity(0), torch.get_num_threads()
    os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Calibration:
    """What a released call costs when nothing is done, in seconds, by style; and the least time worth telling."""

    functional: float
    destination: float
    resolution: float

    def constant(self, style: str) -> float:
        """The constant to take off a call made in a style."""
        return self.destination if style == "destination" else self.functional


def calibrate(start: Callable[[], Seat], threads: int) -> Calibration:
    """Time calls that do nothing, in both styles.

    The constant is the lower decile, so that it never takes off more than the call itself cost; what a
    typical call costs above it stays in the time. The resolution is where that is a tenth of the time, and never below
    50 microseconds.
    """
    times = {style: _noop_times(start(), style, threads) for style in ("functional", "destination")}
    lows = {style: statistics.quantiles(t, n=10)[0] for style, t in times.items()}
    doubt = max(statistics.median(t) - lows[style] for style, t in times.items())
    return Calibration(lows["functional"], lows["destination"], max(LEAST_RESOLUTION, doubt / SHARE_IN_DOUBT))


def _noop_times(seat: Seat, style: str, threads: int) -> list[float]:
    try:
        seat.load(Load({"noop.py": NOOP_SOURCE}, "noop.py", style, style, False, threads, 1, 0, 1))
        seat.construct("noop", None, 0)
        values = [torch.zeros(4096)]
        seat.bind("noop", "noop", values, [_SPEC], [_SPEC])
        indices = [torch.arange(0, 4096, 64)]
        calls = [seat.call("noop", values, indices).released for _ in range(NOOP_CALLS)]
    finally:
        seat.close()
    quiet = [c.nanoseconds for c in calls if not c.disturbed]
    if len(quiet) < LEAST_QUIET:  # a machine that is never quiet: the wide spread makes its resolution coarse
        quiet = [c.nanoseconds for c in calls]
    return [n * 1e-9 for n in quiet]
