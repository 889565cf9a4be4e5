"""Figures as people write them."""

from __future__ import annotations

import pytest

from evaluator.evaluation import Interval
from services.figures import duration, ratio, span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.5, "1.5 s"), (0.00456, "4.56 ms"), (12.34e-6, "12.3 µs"), (5e-9, "5 ns"), (0, "0 ns")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_ratio() -> None:
    assert ratio(Interval(1.5, 1.4, 1.6)) == "1.500× [1.400, 1.600]"
    assert ratio(None) == "–"


def test_span() -> None:
    assert (span(42.4), span(725), span(3723), span(-1)) == ("0:42", "12:05", "1:02:03", "0:00")
