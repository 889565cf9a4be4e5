"""Process 1 of a cold sandbox: lays the files, runs the command, waits for it alone, hands back what it left.

It sends one message {"file": name} with a descriptor per collected file, then {"status": wait status}, and waits
to be killed with all that the command left behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from pathlib import Path
from typing import NoReturn, cast

from sandbox.api import Channel

_NOT_STARTED = 127


def main(channel: Channel) -> None:
    """The entry. The first message names argv, files (name, size; their bytes lie one after the other in the
    descriptor that comes along) and what to collect."""
    message, (bundle,) = channel.receive()
    _lay(cast("list[tuple[str, int]]", message["files"]), bundle)
    status = _run(cast("list[str]", message["argv"]))
    for name in cast("list[str]", message["collect"]):
        with contextlib.suppress(OSError):
            fd = _open_regular(name)
            try:
                channel.send({"file": name}, [fd])
            finally:
                os.close(fd)
    channel.send({"status": status})
    with contextlib.suppress(EOFError):
        channel.receive()


def _lay(files: list[tuple[str, int]], bundle: int) -> None:
    with os.fdopen(bundle, "rb") as source:
        source.seek(0)
        for name, size in files:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o755), "wb"
            ) as file:
                file.write(source.read(size))


def _run(argv: list[str]) -> int:
    pid = os.fork()
    if pid == 0:
        _execute(argv)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return status


def _execute(argv: list[str]) -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as e:
        os.write(2, f"{argv[0]}: {e.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(_NOT_STARTED)


def _open_regular(name: str) -> int:
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{name} is not a regular file")
    return fd
