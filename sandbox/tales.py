"""Files in which the kernel tells of the whole host: its load, its idle times, its memory.

Who could read them would know when other sandboxes and the judge work, and could time an evaluation that is not its
own. They are masked. What cannot be hidden is what a process feels: caches, memory bandwidth and cores that it shares.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

OF_PROC = (
    *("loadavg", "stat", "uptime", "interrupts", "softirqs", "schedstat", "vmstat", "zoneinfo", "diskstats"),
    *("buddyinfo", "pagetypeinfo", "slabinfo", "timer_list", "locks", "pressure", "meminfo", "swaps"),
    *("partitions", "modules", "kallsyms", "kcore", "key-users", "keys", "cgroups", "sysvipc"),
)
"""Below /proc."""

OF_SYSTEM_DEVICES = (
    *("cpu/cpu*/cpuidle", "cpu/cpu*/cpufreq", "cpu/cpu*/thermal_throttle", "cpu/cpufreq", "cpu/cpuidle"),
    *("node/node*/meminfo", "node/node*/numastat", "node/node*/vmstat", "node/node*/hugepages"),
)
"""Below /sys/devices/system, as patterns."""


def told() -> Iterator[str]:
    """Those that are there."""
    yield from (path for path in (f"/proc/{name}" for name in OF_PROC) if os.path.exists(path))
    folder = Path("/sys/devices/system")
    yield from (os.path.realpath(path) for pattern in OF_SYSTEM_DEVICES for path in folder.glob(pattern))
