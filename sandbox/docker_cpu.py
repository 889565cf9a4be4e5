"""The share of the processor that process 1 of a container gets, as the judge sets it from the host."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_CPU_GROUPS = Path("/sys/fs/cgroup/cpu")


def make_ordinary(pid: int) -> None:
    """Take every thread of a process out of the idle class."""
    with contextlib.suppress(PermissionError, FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setscheduler(int(thread), os.SCHED_OTHER, os.sched_param(0))


def allow_real_time(pid: int) -> None:
    """Move a process to the judge's own group of the version 1 controller `cpu`, where there is one.

    On kernels with real-time groups an engine's group has no real time, so timed calls could not get the priority
    that decision 0007 gives them. Nothing is lost: we set no quota there, and cores are bound by another controller.
    A judge that may not do so leaves the process where it is.
    """
    group = _judges_group()
    if group is not None:
        with contextlib.suppress(OSError):
            (group / "cgroup.procs").write_text(str(pid), encoding="ascii")


def _judges_group() -> Path | None:
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return _CPU_GROUPS / path.lstrip("/")
    return None
