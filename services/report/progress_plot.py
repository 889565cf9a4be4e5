"""The plot of a job: each attempt a point by its speedup, and the best so far as a line. Inline SVG.

Pure geometry: the template draws it. The scale is logarithmic, as a ratio wants: 2 and 1/2 are equally far from 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.api import Attempt
from evaluator.evaluation import Interval, Verdict
from services.figures import ratio

WIDTH, HEIGHT = 960, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 20, 92
LANE = HEIGHT - BOTTOM + 30
"""Height of the lane for attempts that have no speedup."""
MAX_LABELS = 16
STEPS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True)
class Point:
    """An attempt: where it lies, its interval's ends (equal to y where there is none), how it is drawn."""

    x: float
    y: float
    low: float
    high: float
    verdict: str
    label: str


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Plot:
    """Everything to draw, in the SVG's own units."""

    points: tuple[Point, ...]
    best: str
    one: float
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM
    lane: int = LANE


def progress_plot(attempts: Sequence[Attempt]) -> Plot | None:
    """The plot, or None where nothing was attempted."""
    if not attempts:
        return None
    low, high = _range(attempts)
    last = max(a.number for a in attempts)
    return Plot(
        points=tuple(_point(a, last, low, high) for a in attempts),
        best=_best_line(attempts, last, low, high),
        one=_y(1.0, low, high),
        rows=tuple(Tick(_y(s, low, high), f"{s:g}×") for s in _steps(low, high)),
        columns=tuple(Tick(_x(n, last), str(n)) for n in _numbers(last)),
    )


def _speedup(attempt: Attempt) -> Interval | None:
    """The speedup of an accepted attempt: a rejected one's time says nothing."""
    evaluation = attempt.evaluation
    if evaluation is None or evaluation.timing is None or evaluation.verdict is not Verdict.ACCEPTED:
        return None
    return evaluation.timing.speedup


def _range(attempts: Sequence[Attempt]) -> tuple[float, float]:
    ends = [e for a in attempts if (s := _speedup(a)) is not None for e in (s.low, s.high)]
    low, high = min([*ends, 0.9]), max([*ends, 1.1])
    return max(low, 1e-3) / 1.05, high * 1.05


def _x(number: int, last: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (number - 0.5) / last, 1)


def _y(value: float, low: float, high: float) -> float:
    share = math.log(max(value, low) / low) / math.log(high / low)
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)


def _point(attempt: Attempt, last: int, low: float, high: float) -> Point:
    x, speedup = _x(attempt.number, last), _speedup(attempt)
    verdict = attempt.evaluation.verdict.value if attempt.evaluation else attempt.state.value
    label = f"attempt {attempt.number}, {attempt.proposal.proposer}: {verdict} {ratio(speedup)}"
    if speedup is None:
        return Point(x, LANE, LANE, LANE, verdict, label)
    y = _y(speedup.value, low, high)
    return Point(x, y, _y(speedup.low, low, high), _y(speedup.high, low, high), verdict, label)


def _best_line(attempts: Sequence[Attempt], last: int, low: float, high: float) -> str:
    """Points of the running best, as steps, to the right edge; empty where nothing was accepted."""
    path: list[str] = []
    best = 0.0
    for attempt in attempts:
        speedup = _speedup(attempt)
        if speedup is None or speedup.value <= best:
            continue
        x = _x(attempt.number, last)
        if path:
            path.append(f"{x},{_y(best, low, high)}")
        best = speedup.value
        path.append(f"{x},{_y(best, low, high)}")
    if path:
        path.append(f"{WIDTH - RIGHT},{_y(best, low, high)}")
    return " ".join(path)


def _steps(low: float, high: float) -> Iterator[float]:
    """Values to label; not two labels on top of one another."""
    above = float(HEIGHT)
    for step in STEPS:
        y = _y(step, low, high)
        if low <= step <= high and (above - y >= 22 or step == 1.0):
            above = y
            yield step


def _numbers(last: int) -> range:
    return range(1, last + 1, math.ceil(last / MAX_LABELS))
