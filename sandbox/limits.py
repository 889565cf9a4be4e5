"""Resource limits that a process puts on itself before foreign code runs."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from pathlib import Path

from sandbox.api import Limits

_MAY_END = 4


def apply(limits: Limits, cores: Sequence[int], bound_address_space: bool, other_tasks: int = 0) -> None:
    """Set rlimits and affinity of the calling process. A limit above what the process may have is cut to that.

    RLIMIT_NPROC counts the threads of this uid in this user namespace, so it bounds one sandbox if either is its own;
    else `other_tasks` (see `tasks_of`) come on top, and it bounds them all together; a few less are allowed then,
    since some of the others may end.
    Raises OSError (a core that is not there).
    """
    if cores:
        os.sched_setaffinity(0, cores)
    _set(resource.RLIMIT_CORE, 1)  # unlike 0, also keeps a crash from the host's core handler (core_pattern)
    _set(resource.RLIMIT_NPROC, limits.processes + other_tasks - (_MAY_END if other_tasks else 0))
    _set(resource.RLIMIT_FSIZE, limits.file_bytes)
    _set(resource.RLIMIT_NOFILE, limits.open_files)
    _set(resource.RLIMIT_MSGQUEUE, 0)
    if limits.cpu_seconds is not None:
        _set(resource.RLIMIT_CPU, limits.cpu_seconds)
    if bound_address_space:
        _set(resource.RLIMIT_AS, limits.memory_bytes)


def tasks_of(uid: int) -> int:
    """How many threads all processes of a uid have together, as /proc shows them."""
    return sum(_threads(name, str(uid)) for name in os.listdir("/proc") if name.isdigit())


def _threads(name: str, uid: str) -> int:
    try:
        text = Path("/proc", name, "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    fields = dict(line.partition(":")[::2] for line in text.splitlines())
    return int(fields["Threads"]) if fields["Uid"].split()[0] == uid else 0


def _set(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))
