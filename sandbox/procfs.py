"""The processes of one pid namespace, seen from outside through a descriptor of its own /proc."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from sandbox.api import Scheduling

_INIT = "1"
_DEAD = (b"Z", b"X")


def open_table() -> list[int]:
    """Descriptors for a `ProcessTable`, opened by process 1 in its own /proc."""
    folder = os.O_RDONLY | os.O_DIRECTORY
    places = (("/proc", folder), ("/proc/1/stat", os.O_RDONLY), ("/proc/1/task", folder))
    return [os.open(path, flags) for path, flags in places]


class ProcessTable:
    """Reads states of a namespace's processes. Owns the descriptors, which `open_table` made before foreign code
    ran. Not for use after `close`."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._proc, self._stat, self._tasks = descriptors

    def close(self) -> None:
        """Close every descriptor."""
        for fd in (self._tasks, self._stat, self._proc):
            os.close(fd)

    def kill_others(self) -> int:
        """Send SIGKILL to every living process but process 1; how many there were."""
        killed = 0
        for name in os.listdir(self._proc):
            if name.isdigit() and name != _INIT and self._alive(name):
                killed += 1
                self._kill(name)
        return killed

    def _alive(self, name: str) -> bool:
        """A leader that is a zombie may still have threads that run."""
        text = _read(f"{name}/stat", self._proc)
        if text is None:
            return False
        state, threads = _state(text)
        return state not in _DEAD or threads > 1

    def _kill(self, name: str) -> None:
        try:
            process = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._proc)
        except OSError:
            return
        try:
            signal.pidfd_send_signal(process, signal.SIGKILL)
        except ProcessLookupError:
            return
        finally:
            os.close(process)

    def stopped(self) -> bool:
        """Whether every thread of process 1 is in the stopped state. Raises ProcessLookupError when it is gone."""
        state, threads = _state(os.pread(self._stat, 1024, 0))
        if threads == 1:
            return state == b"T"
        names = os.listdir(self._tasks)
        return len(names) == threads and all(self._thread_stopped(name) for name in names)

    def _thread_stopped(self, name: str) -> bool:
        text = _read(f"{name}/stat", self._tasks)
        if text is None:
            return False
        state, _ = _state(text)
        return state == b"T" or state in _DEAD

    def scheduling(self) -> Scheduling:
        """Sums over the threads of process 1."""
        delay = switches = threads = 0
        for name in os.listdir(self._tasks):
            schedule = _read(f"{name}/schedstat", self._tasks)
            status = _read(f"{name}/status", self._tasks)
            if schedule is None or status is None:
                continue
            threads += 1
            delay += int(schedule.split()[1])
            switches += int(status[status.rindex(b"nonvoluntary_ctxt_switches:") :].split()[1])
        return Scheduling(delay, switches, threads, _minor_faults(os.pread(self._stat, 1024, 0)))


def _read(path: str, folder: int) -> bytes | None:
    """A small file of /proc; None when its process is gone."""
    try:
        fd = os.open(path, os.O_RDONLY, dir_fd=folder)
    except (FileNotFoundError, ProcessLookupError):
        return None
    try:
        return os.read(fd, 4096)
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
