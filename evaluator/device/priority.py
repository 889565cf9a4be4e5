"""Real-time priority for the moments that are timed, where the host allows it (root, or a real-time rlimit).

Other work then waits until a call is over, instead of making the call wait for a time slice of its own. Both sides
of a measurement get the same. Refused by the host, nothing changes, and disturbed samples are voided as ever.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_ORDINARY = os.sched_param(0)
_FIRST = os.sched_param(1)


@contextmanager
def real_time(pid: int) -> Iterator[None]:
    """This thread and every thread of process `pid` ahead of ordinary work, for the time of the block.

    Threads that the process starts meanwhile inherit it until the block ends.
    """
    _set(pid, os.SCHED_RR, _FIRST)
    try:
        yield
    finally:
        ordinary(pid)


def ordinary(pid: int) -> None:
    """This thread and every thread of process `pid` beside ordinary work again."""
    _set(pid, os.SCHED_OTHER, _ORDINARY)


def real_time_allowed() -> bool:
    """Whether this host gives this user real-time priority, found by trying."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, _FIRST)
    except PermissionError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, _ORDINARY)
    return True


def _set(pid: int, policy: int, parameter: os.sched_param) -> None:
    with suppress(PermissionError):
        os.sched_setscheduler(0, policy, parameter)
        for thread in _threads(pid):
            with suppress(ProcessLookupError):
                os.sched_setscheduler(thread, policy, parameter)


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []
