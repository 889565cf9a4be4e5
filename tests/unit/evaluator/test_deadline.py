"""Until when an evaluation may go on."""

from __future__ import annotations

import time

import pytest

from evaluator.evaluation import OutOfTime
from evaluator.judge.deadline import Deadline


def test_without_one_every_limit_is_as_given():
    assert Deadline().within(30.0) == 30.0


def test_a_near_one_shortens_limits_and_a_far_one_does_not():
    deadline = Deadline()
    deadline.at = time.monotonic() + 1000
    assert 0 < deadline.within(5000.0) <= 1000
    assert deadline.within(30.0) == 30.0


def test_once_it_has_passed_nothing_begins():
    deadline = Deadline()
    deadline.at = time.monotonic()
    for ask in (deadline.check, lambda: deadline.within(1.0)):
        with pytest.raises(OutOfTime):
            ask()
