"""What this machine can tell apart: the constant of a released call, the resolution, the noise between equal things."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources

import torch

from evaluator.canonical import plain, rebuilt
from evaluator.harness.wire import Load
from evaluator.judge.arena import TensorSpec
from evaluator.judge.ceilings import Ceilings
from evaluator.judge.client import Released
from evaluator.judge.noise import LEAST_NOISE
from evaluator.judge.seat import Seat
from evaluator.problem.candidate import Candidate, Language

NOOP_SOURCE = """
import torch

_result = torch.zeros(4096)


def functional(x):
    return _result


def destination(x, y):
    pass
"""
STYLES = ("functional", "destination")
NOOP_CALLS = 200
LEAST_QUIET = 20
LEAST_RESOLUTION = 50e-6
SHARE_TO_GAIN = 0.05
SHARE_OF_SPREAD = 0.1
_SPEC = TensorSpec((4096,), (1,), "float32")


@dataclass(frozen=True)
class Calibration:
    """What a released call costs when nothing is done, in seconds, by style; the least time worth telling; by how
    much the times of equal things differ, as a share; and the ceilings, where they were measured."""

    functional: float
    destination: float
    resolution: float
    noise: float = LEAST_NOISE
    ceilings: Ceilings | None = None

    def constant(self, style: str) -> float:
        """The constant to take off a call made in a style."""
        return self.destination if style == "destination" else self.functional

    def to_json(self) -> Mapping[str, object]:
        """As plain JSON data; `from_json` reads it back."""
        data = plain(self)
        assert isinstance(data, dict)
        return data

    @staticmethod
    def from_json(data: Mapping[str, object]) -> Calibration:
        """Rebuild what `to_json` made. Raises TypeError or ValueError on anything else."""
        return rebuilt(Calibration, data)


@dataclass(frozen=True)
class Cost:
    """Seconds of calls that do nothing: the least that native code needs, what it needs as a rule, and our runner."""

    least: float
    native: float
    ours: float


def native_noop() -> Candidate:
    """The fastest way to do nothing: it serves the shared page in native code."""
    source = resources.files("evaluator.judge") / "native" / "noop.cpp"
    return Candidate({"candidate.cpp": source.read_text()}, Language.CPP)


def from_costs(costs: Mapping[str, Cost], noise: float, ceilings: Ceilings | None) -> Calibration:
    """The constant is the least that native code needs, which a candidate can do no better than.

    What our runner costs above native code stays in the time of both sides, and who replaced the runner's loop would
    gain it. What a call usually costs above the least stays as well, and makes ratios nearer to 1 than they are. The
    resolution is where the first is a twentieth of the time and the second a tenth, and never below 50 microseconds.
    """
    gain = max(c.ours - c.native for c in costs.values())
    spread = max(c.native - c.least for c in costs.values())
    resolution = max(LEAST_RESOLUTION, gain / SHARE_TO_GAIN, spread / SHARE_OF_SPREAD)
    return Calibration(costs["functional"].least, costs["destination"].least, resolution, noise, ceilings)


def unguarded(costs: Mapping[str, Cost]) -> Calibration:
    """What a naive judge takes: the constant is what our own runner needs, and every time counts."""
    return Calibration(costs["functional"].ours, costs["destination"].ours, 0.0)


def call_costs(start: Callable[[], Seat], threads: int, library: int | None) -> dict[str, Cost]:
    """Time calls that do nothing, in both styles. `library`: the descriptor of the built `native_noop`.

    Without one, nothing is known of native code, and the least is taken to be nothing at all.
    """
    return {style: _cost(start, threads, library, style) for style in STYLES}


def _cost(start: Callable[[], Seat], threads: int, library: int | None, style: str) -> Cost:
    native = [0.0]
    if library is not None:
        load = Load({}, "candidate.py", "kernelwright_run", "", True, threads, 1, 0, 1)
        native = _noop_times(start(), load, style, [library])
    load = Load({"noop.py": NOOP_SOURCE}, "noop.py", style, style, False, threads, 1, 0, 1)
    ours = _noop_times(start(), load, style, [])
    return Cost(min(native), statistics.median(native), statistics.median(ours))


def _noop_times(seat: Seat, load: Load, style: str, library: list[int]) -> list[float]:
    try:
        seat.load(load, library)
        seat.style = style  # a library can answer in either
        seat.construct("noop", None, 0)
        values = [torch.zeros(4096)]
        seat.bind("noop", "noop", values, [_SPEC], [_SPEC])
        indices = [torch.arange(0, 4096, 128)]
        calls = [seat.time("noop", values, indices) for _ in range(NOOP_CALLS)]
    finally:
        seat.close()
    return [c.nanoseconds * 1e-9 for c in _quiet(calls)]


def _quiet(calls: list[Released]) -> list[Released]:
    """Those that were not disturbed; all of them on a machine that is never quiet."""
    quiet = [c for c in calls if not c.disturbed]
    return quiet if len(quiet) >= LEAST_QUIET else calls
