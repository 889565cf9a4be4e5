"""Limits that a process puts on itself, tried in a child."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from sandbox.limits import tasks_of

SCRIPT = """
import os, resource
from sandbox.api import Limits
from sandbox.limits import apply
core = min(os.sched_getaffinity(0))
apply(Limits(memory_bytes=1 << 32, file_bytes=12345, open_files=1 << 40, cpu_seconds=7), [core], {bounded})
names = ("CORE", "FSIZE", "CPU", "AS")
print(*(resource.getrlimit(getattr(resource, "RLIMIT_" + n))[1] for n in names), os.sched_getaffinity(0) == {{core}})
"""


def limits_inside(bounded: bool) -> list[str]:
    path = os.pathsep.join(p for p in sys.path if p)
    command = [sys.executable, "-c", SCRIPT.format(bounded=bounded)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    return done.stdout.split()


def test_limits_are_hard_and_cut_to_what_is_allowed() -> None:
    assert limits_inside(False) == ["1", "12345", "7", "-1", "True"]


def test_address_space_is_bounded_where_nothing_else_bounds_memory() -> None:
    assert limits_inside(True) == ["1", "12345", "7", str(1 << 32), "True"]


def test_the_tasks_of_a_user_are_counted_thread_by_thread() -> None:
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(50)]
    for thread in threads:
        thread.start()
    counted = tasks_of(os.getuid())
    stop.set()
    for thread in threads:
        thread.join()
    assert counted >= len(threads) + 1
    assert tasks_of(1 << 30) == 0
