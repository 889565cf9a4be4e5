"""The first process of a sandbox and those it started, seen from outside through /proc."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from typing import Protocol

from sandbox.api import Scheduling

_DEAD = (b"Z", b"X")
_CHUNK = 4096


def open_table() -> list[int]:
    """Descriptors for a `ProcessTable`, opened by the first process in the /proc that it sees."""
    folder = os.O_RDONLY | os.O_DIRECTORY
    own = f"/proc/{os.getpid()}"
    return [
        os.open(path, flags)
        for path, flags in (("/proc", folder), (f"{own}/stat", os.O_RDONLY), (f"{own}/task", folder))
    ]


class Kin(Protocol):
    """Tells the processes of one sandbox from all others of a /proc (implementations: `sandbox.kin`)."""

    def among(self, proc: int) -> Iterator[str]:
        """The names in `proc`, a descriptor of a /proc, of all its processes but the first, dead ones too."""
        ...


class ProcessTable:
    """Reads states of a sandbox's processes. Owns the descriptors, which `open_table` made before foreign code
    ran. Not for use after `close`."""

    def __init__(self, descriptors: Sequence[int], kin: Kin) -> None:
        self._proc, self._stat, self._tasks = descriptors
        self._kin = kin

    def close(self) -> None:
        """Close every descriptor."""
        for fd in (self._tasks, self._stat, self._proc):
            os.close(fd)

    def kill_others(self) -> int:
        """Send SIGKILL to every living process but the first; how many there were."""
        living = [name for name in self._kin.among(self._proc) if is_alive(name, self._proc)]
        for name in living:
            kill(name, self._proc)
        return len(living)

    def stopped(self) -> bool:
        """Whether every thread of the first process is stopped. Raises ProcessLookupError when it is gone."""
        state, threads = _state(os.pread(self._stat, 1024, 0))
        if threads == 1:
            return state == b"T"
        names = os.listdir(self._tasks)
        return len(names) == threads and all(self._thread_stopped(name) for name in names)

    def _thread_stopped(self, name: str) -> bool:
        text = read(f"{name}/stat", self._tasks)
        if text is None:
            return False
        state, _ = _state(text)
        return state == b"T" or state in _DEAD

    def scheduling(self) -> Scheduling:
        """Sums over the threads of the first process."""
        schedules = (read(f"{name}/schedstat", self._tasks) for name in os.listdir(self._tasks))
        times = [text.split() for text in schedules if text is not None]
        return Scheduling(
            run_delay_ns=sum(int(delay) for _, delay, *_ in times),
            minor_faults=_minor_faults(os.pread(self._stat, 1024, 0)),
            running_ns=sum(int(running) for running, *_ in times),
        )


def is_alive(name: str, proc: int) -> bool:
    """Whether a process runs or may run again. A leader that is a zombie may still have threads that run."""
    text = read(f"{name}/stat", proc)
    if text is None:
        return False
    state, threads = _state(text)
    return state not in _DEAD or threads > 1


def kill(name: str, proc: int) -> None:
    """Send SIGKILL to a process, if it is still there."""
    with contextlib.suppress(OSError):
        process = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
        try:
            signal.pidfd_send_signal(process, signal.SIGKILL)
        finally:
            os.close(process)


def parent_of(stat: bytes) -> str:
    """The parent that a process's stat names."""
    return stat[stat.rindex(b")") + 2 :].split()[1].decode("ascii")


def read(path: str, folder: int) -> bytes | None:
    """A file of /proc, whole; None when its process is gone."""
    try:
        fd = os.open(path, os.O_RDONLY, dir_fd=folder)
    except (FileNotFoundError, ProcessLookupError):
        return None
    try:
        parts = []
        while part := os.read(fd, _CHUNK):
            parts.append(part)
        return b"".join(parts)
    except ProcessLookupError:
        return None
    finally:
        os.close(fd)


def _state(stat: bytes) -> tuple[bytes, int]:
    """State letter and number of threads. The command's name before them may hold anything, even ")"."""
    words = stat[stat.rindex(b")") + 2 :].split()
    return words[0], int(words[17])


def _minor_faults(stat: bytes) -> int:
    return int(stat[stat.rindex(b")") + 2 :].split()[7])
