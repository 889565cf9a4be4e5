"""The process that a sandbox without namespaces hangs on: it outlives all of them, and ends them.

Whatever a sandboxed process starts and abandons becomes the keeper's child (PR_SET_CHILD_SUBREAPER), so nothing is
over before the keeper has none. It is our code, outside the sandbox, and no sandboxed process may signal it: it has
another uid, or Landlock keeps signals inside. It ends the sandbox when the first process ends, and when the fork
server dies.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from types import FrameType
from typing import NoReturn

from sandbox import syscalls as sc
from sandbox.kin import Descendants
from sandbox.procfs import kill
from sandbox.spec import SpawnRequest

_PAUSE = 0.001


def take_charge(request: SpawnRequest) -> None:
    """Make the calling process a keeper, before it forks the first process. Raises OSError."""

    def server_died(signum: int, frame: FrameType | None) -> NoReturn:
        end_all(request)
        os._exit(1)

    signal.signal(signal.SIGTERM, server_died)
    sc.prctl(sc.PR_SET_CHILD_SUBREAPER, 1)
    sc.prctl(sc.PR_SET_PDEATHSIG, signal.SIGTERM)


def wait(first: int, request: SpawnRequest) -> int:
    """The wait status of the first process, once it and all others are gone."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == first:
            end_all(request)
            return status


def end_all(request: SpawnRequest) -> None:
    """Kill every process of the sandbox and wait until none is left."""
    while _has_children():
        if request.drop:
            _kill_uid(request.uid, request.gid)
        else:
            _kill_descendants()
        time.sleep(_PAUSE)


def _has_children() -> bool:
    """Whether any child lives; those that ended are collected."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _kill_uid(uid: int, gid: int) -> None:
    """Have a process of that uid kill all others at once: none can fork out of it. One of them may kill it before."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(pid, 0)


def _kill_descendants() -> None:
    """Kill all descendants, and keep those that are not dead yet from forking."""
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in Descendants(keeper=os.getpid(), first=os.getpid()).among(proc):
            with contextlib.suppress(OSError):
                resource.prlimit(int(name), resource.RLIMIT_NPROC, (0, 0))
            kill(name, proc)
    finally:
        os.close(proc)
