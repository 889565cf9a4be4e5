"""Real-time priority for the time of a block, where the host allows it; where not, nothing changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from evaluator.device.priority import real_time


@pytest.fixture
def child() -> Iterator[int]:
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        yield process.pid
        process.kill()


def test_both_sides_have_the_same_priority_and_are_ordinary_afterwards(child: int) -> None:
    with real_time(child):
        assert os.sched_getscheduler(0) == os.sched_getscheduler(child)
    assert os.sched_getscheduler(0) == os.sched_getscheduler(child) == os.SCHED_OTHER


def test_a_process_that_is_gone_is_no_error() -> None:
    with subprocess.Popen(["/bin/true"]) as gone:
        gone.wait()
    with real_time(gone.pid):
        pass
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
