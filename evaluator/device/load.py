"""Whether others run on this host just now: the kernel's own count of runnable threads, a look costs 20 us.

Where real-time priority is refused, a runner that wakes beside other work waits for the next tick, up to 3.6 ms.
Starting a call in a moment in which nobody else runs avoids that, wherever there are such moments.
"""

from __future__ import annotations

import os
import time

PAUSE = 0.0005


def others_run(spare: int) -> bool:
    """Whether more threads run besides this one than the `spare` CPUs, which are nobody's here, can hold."""
    with open("/proc/loadavg", encoding="ascii") as file:
        running = int(file.read().split()[3].partition("/")[0])
    return running - 1 > spare


def await_quiet(spare: int, patience: float) -> bool:
    """Wait until no others run, `patience` seconds at most; whether that was so in the end."""
    deadline = time.perf_counter() + patience
    while busy := others_run(spare):
        if time.perf_counter() > deadline:
            break
        time.sleep(PAUSE)
    return not busy


def spare_cpus(used: int) -> int:
    """CPUs of this host besides the `used` ones."""
    return max(0, (os.cpu_count() or used) - used)
