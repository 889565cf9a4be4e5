"""Calls before the timed ones, until an implementation's allocator has the memory that it goes on using."""

from __future__ import annotations

import time
from collections.abc import Callable

from evaluator.judge.client import Released

MOST_CALLS = 32
QUIET_CALLS = 8  # results come round again after four, shifted, and once more may not fit
MOST_SECONDS = 4.0
MANY_FAULTS = 64


def settle(call: Callable[[int], Released]) -> None:
    """Make call after call, numbered from 0, until a few in a row needed no new pages, or it takes too long.

    The C library may take new pages for a dozen calls before it finds old ones that fit; each costs a fault, 2 ms for
    4 MB of results, which is no property of the implementation.
    """
    quiet, deadline = 0, time.perf_counter() + MOST_SECONDS
    for number in range(MOST_CALLS):
        quiet = quiet + 1 if call(number).faults < MANY_FAULTS else 0
        if quiet == QUIET_CALLS or time.perf_counter() > deadline:
            return
