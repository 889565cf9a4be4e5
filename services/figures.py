"""Figures as people write them."""

from __future__ import annotations

from evaluator.evaluation import Interval

MISSING = "–"


def duration(seconds: float) -> str:
    """A time to three digits: 12.3 µs, 4.56 ms, 1.2 s."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(interval: Interval | None) -> str:
    """A speedup with its interval, or a dash."""
    if interval is None:
        return MISSING
    return f"{interval.value:.3f}× [{interval.low:.3f}, {interval.high:.3f}]"


def span(seconds: float) -> str:
    """A length of time to the second: 0:42, 12:05, 1:02:03."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
