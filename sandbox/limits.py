"""Resource limits that a process puts on itself before foreign code runs."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from sandbox.api import Limits


def apply(limits: Limits, cores: Sequence[int], bound_address_space: bool) -> None:
    """Set rlimits and affinity of the calling process. A limit above what the process may have is cut to that.

    RLIMIT_NPROC counts the threads of this uid in this user namespace, so it bounds one sandbox.
    Raises OSError (a core that is not there).
    """
    if cores:
        os.sched_setaffinity(0, cores)
    _set(resource.RLIMIT_CORE, 1)  # unlike 0, also keeps a crash from the host's core handler (core_pattern)
    _set(resource.RLIMIT_NPROC, limits.processes)
    _set(resource.RLIMIT_FSIZE, limits.file_bytes)
    _set(resource.RLIMIT_NOFILE, limits.open_files)
    _set(resource.RLIMIT_MSGQUEUE, 0)
    if limits.cpu_seconds is not None:
        _set(resource.RLIMIT_CPU, limits.cpu_seconds)
    if bound_address_space:
        _set(resource.RLIMIT_AS, limits.memory_bytes)


def _set(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))
