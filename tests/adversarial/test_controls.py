"""Honest candidates are accepted, whatever words they use and however they return their result."""

import pytest

pytestmark = [pytest.mark.judge, pytest.mark.slow]


def test_accepted(control, court):
    evaluation = court.evaluate(control, "search")
    assert evaluation.verdict == "accepted", evaluation.reason
