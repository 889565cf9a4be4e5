"""By how much the times of two equal things differ on this machine: A against A, as a candidate is timed."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence

import torch

from evaluator.harness.wire import Load
from evaluator.judge.arena import TensorSpec
from evaluator.judge.seat import Seat
from evaluator.judge.settling import settle

SOURCE = """
import torch


def run(x):
    return torch.softmax(x, dim=-1)
"""
ROWS, COLUMNS = 256, 1024
PAIRS = 12
LEAST_NOISE = 0.02
_SPEC = TensorSpec((ROWS, COLUMNS), (COLUMNS, 1), "float32")
_INDICES = torch.arange(0, ROWS * COLUMNS, ROWS * COLUMNS // 32)


def ratios(start: Callable[[], Seat], threads: int, restarts: int) -> list[float]:
    """The ratio of median times of two runners of the same operation, for each of `restarts` fresh pairs of them.

    Pairs of calls in random order on the same fresh values; pairs with a disturbed call do not count.
    """
    return [_ratio(start, threads, random.Random(number)) for number in range(restarts)]


def width(found: Sequence[float]) -> float:
    """The largest deviation from 1 among ratios, never below two in a hundred."""
    return max([LEAST_NOISE, *(abs(math.log(r)) for r in found)])


def _ratio(start: Callable[[], Seat], threads: int, chance: random.Random) -> float:
    seats: list[Seat] = []
    try:
        for _ in range(2):
            seats.append(start())
            _prepare(seats[-1], threads)
        pairs = [_pair(seats, chance) for _ in range(PAIRS)]
    finally:
        for seat in seats:
            seat.close()
    quiet = [times for times, disturbed in pairs if not disturbed] or [times for times, _ in pairs]
    return statistics.median(a for a, _ in quiet) / statistics.median(b for _, b in quiet)


def _prepare(seat: Seat, threads: int) -> None:
    seat.load(Load({"noise.py": SOURCE}, "noise.py", "run", "functional", False, threads, 1, 0, 1))
    seat.construct("noise", None, 0)
    values = [torch.zeros(ROWS, COLUMNS)]
    seat.bind("noise", "noise", values, [_SPEC], [_SPEC])
    settle(lambda number: seat.time("noise", values, [_INDICES], warm_up=number == 0))


def _pair(seats: Sequence[Seat], chance: random.Random) -> tuple[tuple[float, float], bool]:
    values = [torch.randn(ROWS, COLUMNS)]
    calls = {}
    for place in chance.sample((0, 1), 2):
        calls[place] = seats[place].time("noise", values, [_INDICES])
    times = (float(calls[0].nanoseconds), float(calls[1].nanoseconds))
    return times, calls[0].disturbed or calls[1].disturbed
