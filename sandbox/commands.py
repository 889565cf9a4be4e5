"""The judge's side of a cold process: hand over the files, wait for the end or the time, take what is left."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from pathlib import PurePosixPath

from sandbox.api import Command, Completed, EndKind, ExitStatus, Process, SandboxProtocolError
from sandbox.channel import close_all
from sandbox.report import exit_status


def check(command: Command) -> None:
    """Raise ValueError for an empty argv or a file name that is not relative and inside the working folder."""
    if not command.argv:
        raise ValueError("a command needs at least a program")
    for name in (*command.files, *command.collect):
        path = PurePosixPath(name)
        if not path.parts or path.is_absolute() or ".." in path.parts:
            raise ValueError(f"not a relative name inside the working folder: {name!r}")


def carry_out(process: Process, command: Command, timeout: float, begun: float) -> Completed:
    """Run `command` in a process whose entry is `sandbox.cold:main`, and end it.

    begun: when (monotonic) the caller began, for `wall_seconds`; the timeout counts from now.
    """
    deadline = time.monotonic() + timeout
    held: dict[str, int] = {}
    reported: int | None = None
    timed_out = False
    try:
        _hand_over(process, command)
        reported = _wait(process, command, deadline, held)
    except TimeoutError:
        timed_out = True
    except (EOFError, SandboxProtocolError):
        pass  # its status, below, says how it ended
    finally:
        ended = process.kill()
        files = _read_all(held, command.collect_bytes)
    output, truncated = process.output()
    status = _status(ended, reported)
    return Completed(status, timed_out, output, truncated, files, time.monotonic() - begun)


def _status(ended: ExitStatus, reported: int | None) -> ExitStatus:
    """The command's own status where it was reported; want of memory anywhere in the sandbox explains a failure."""
    if reported is None:
        return ended
    status = exit_status(reported)
    if ended.kind is EndKind.OUT_OF_MEMORY and status != ExitStatus(EndKind.EXITED, 0):
        return ended
    return status


def _hand_over(process: Process, command: Command) -> None:
    bundle = os.memfd_create("files", os.MFD_CLOEXEC)
    try:
        with os.fdopen(bundle, "wb", closefd=False) as file:
            for data in command.files.values():
                file.write(data)
        message: dict[str, object] = {
            "argv": list(command.argv),
            "files": [[name, len(data)] for name, data in command.files.items()],
            "collect": list(command.collect),
        }
        process.channel.send(message, [bundle])
    finally:
        os.close(bundle)


def _wait(process: Process, command: Command, deadline: float, held: dict[str, int]) -> int:
    """The command's wait status; collected descriptors go into `held`. Raises as `Channel.receive`."""
    while True:
        message, fds = process.channel.receive(max(0.0, deadline - time.monotonic()))
        name, status = message.get("file"), message.get("status")
        if name in command.collect and name not in held and len(fds) == 1:
            held[str(name)] = fds[0]
            continue
        close_all(fds)
        if type(status) is int and 0 <= status <= 0xFFFF:
            return status
        raise SandboxProtocolError("not a message of a cold process")


def _read_all(held: dict[str, int], most: int) -> Mapping[str, bytes]:
    """The bytes of regular files, as long as all together are at most `most`; the writers are dead by now."""
    files: dict[str, bytes] = {}
    for name, fd in held.items():
        try:
            info = os.fstat(fd)
            if stat.S_ISREG(info.st_mode) and info.st_size <= most:
                files[name] = _read_whole(fd, info.st_size)
                most -= len(files[name])
        finally:
            os.close(fd)
    return files


def _read_whole(fd: int, size: int) -> bytes:
    parts = []
    at = 0
    while at < size:
        part = os.pread(fd, size - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return b"".join(parts)
