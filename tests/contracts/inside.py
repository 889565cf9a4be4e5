"""Looking into a sandbox from the judge's side, for the checks of the conformance suite."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandbox.api import ExitStatus, Limits, Process

Spawn = Callable[..., Process]
SECONDS = 20.0
CHECKOUT = Path(__file__).resolve().parents[2]
SMALL = Limits(memory_bytes=1 << 30, processes=32, tmpfs_bytes=16 << 20, output_bytes=64 << 10)


def do(process: Process, body: str, fds: Sequence[int] = (), **message: object) -> dict[str, Any]:
    """Run `body`, the body of f(message, fds), inside; its answer: a value, or the name and text of an error.

    The body knows os, socket, signal, ctypes, and `call(name, *arguments)`, a function of the C library that raises
    OSError where it returns -1.
    """
    code = "def f(message, fds):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    process.channel.send({"code": code, **message}, fds)
    answer, _ = process.channel.receive(SECONDS)
    return answer


def value(process: Process, body: str, fds: Sequence[int] = (), **message: object) -> Any:
    """What `body` returns; it must not fail."""
    answer = do(process, body, fds, **message)
    assert "value" in answer, answer
    return answer["value"]


def shown_in(folder: str) -> list[str]:
    """What a scratch at `folder` holds from the start: the way to an interpreter that lies below it on the host."""
    paths = [Path(p) for p in (sys.prefix, sys.base_prefix)]
    return sorted({p.relative_to(folder).parts[0] for p in paths if p.is_relative_to(folder)})


def refused(process: Process, body: str, **message: object) -> bool:
    """Whether `body` fails with an OSError."""
    answer = do(process, body, (), **message)
    assert "value" in answer or answer["refused"], answer
    return "value" not in answer


def ended(process: Process) -> ExitStatus:
    """Wait until it has ended by itself."""
    deadline = time.monotonic() + SECONDS
    while (status := process.poll()) is None:
        assert time.monotonic() < deadline, "it does not end"
        time.sleep(0.005)
    return status


def living(process: Process) -> Callable[[], set[int]]:
    """A function that says which processes of this sandbox live, also once the first of them is gone.

    They are known by their uid where it is not ours, else by the file that is their standard output.
    """
    uid = os.stat(f"/proc/{process.pid}").st_uid
    if uid != os.getuid():
        return lambda: {p for p in _pids() if _uid(p) == uid and not is_dead(p)}
    output = _output(process.pid)
    assert output is not None
    return lambda: {p for p in _pids() if _output(p) == output}


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _uid(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid
    return None


def _output(pid: int) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        status = os.stat(f"/proc/{pid}/fd/1")
        return status.st_dev, status.st_ino
    return None


def is_dead(pid: int) -> bool:
    """Whether it is gone, or a zombie without threads that run."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return words[0] in "ZX" and int(words[17]) <= 1
    return True


def soon(condition: Callable[[], bool], complaint: str) -> None:
    """Wait until it holds."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.005)


def counter(process: Process) -> Callable[[], int]:
    """A reader of the counter whose address the entry sends first."""
    message, _ = process.channel.receive(SECONDS)
    address = int(str(message["address"]))
    return lambda: int.from_bytes(process.read_memory([(address, 8)]), "little")


def stands_still(read: Callable[[], int]) -> bool:
    """Whether the counter keeps its value for a while."""
    first = read()
    time.sleep(0.05)
    return read() == first


def moves(read: Callable[[], int]) -> bool:
    """Whether the counter changes before long."""
    first = read()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if read() != first:
            return True
        time.sleep(0.001)
    return False
