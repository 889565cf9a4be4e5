"""What the self-test runs inside a sandbox: it tries what must not work, and says what came of it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import time
from collections.abc import Callable
from typing import Any

from sandbox import syscalls as sc
from sandbox.api import Channel

_PAGE = 4096
_FAMILIES = 46
_DESCRIPTORS = 8192
_COUNTER = ctypes.c_uint64(0)
_PATTERN = ctypes.create_string_buffer(bytes(range(256)) * 16)


def answer(channel: Channel) -> None:
    """Answer {"ask": name, "with": argument} with {"answer": ...} until the judge hangs up."""
    while True:
        try:
            message, _ = channel.receive()
        except EOFError:
            return
        channel.send({"answer": _PROBES[str(message["ask"])](message.get("with"))})


def count(channel: Channel) -> None:
    """Send the address of a counter, then count in it for ever."""
    channel.send({"address": ctypes.addressof(_COUNTER)})
    while True:
        _COUNTER.value += 1


def _environment(_: Any) -> dict[str, str]:
    return dict(os.environ)


def _descriptors(_: Any) -> list[int]:
    return [fd for fd in range(_DESCRIPTORS) if _is_open(fd)]


def _is_open(fd: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(fd)
        return True
    return False


def _sockets(_: Any) -> list[int]:
    """Address families of which a socket can be had."""
    opened = []
    for family in range(_FAMILIES):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            with contextlib.suppress(OSError):
                socket.socket(family, kind).close()
                opened.append(family)
    return opened


def _write(folders: list[str]) -> list[str]:
    """Folders in which a file can be made."""
    return [f for f in folders if _succeeds(lambda f=f: open(f"{f}/.trial", "w").close())]  # type: ignore[misc]


def _read(paths: list[str]) -> list[str]:
    """Paths that can be read or listed."""

    def look(path: str) -> None:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            with open(path, "rb") as file:
                file.read(1)

    return [p for p in paths if _succeeds(lambda p=p: look(p))]  # type: ignore[misc]


def _rename(_: Any) -> bool:
    """Whether it can write to its own name in /proc, which neither mount nor mode forbid."""
    return _succeeds(lambda: open("/proc/self/comm", "w").close())


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _privileges(_: Any) -> list[str]:
    """Privileged calls that work."""
    attempts: dict[str, Callable[[], object]] = {
        "unshare": lambda: sc.unshare(sc.CLONE_NEWUSER),
        "mount": lambda: sc.mount("none", ".", "tmpfs"),
        "setuid": lambda: os.setuid(0),
        "chroot": lambda: os.chroot("."),
        "io_uring": lambda: sc.call("io_uring_setup", 1, bytes(120)),
        "bpf": lambda: sc.call("bpf", 0, bytes(64), 64),
        "ptrace": lambda: sc.call("ptrace", 0, 0, 0, 0),
        "affinity": lambda: os.sched_setaffinity(0, {0}),
        "signal parent": lambda: os.kill(os.getppid(), 0) if os.getppid() else os.kill(2, 0),
    }
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _allocate(size: int) -> bool:
    """Whether so many bytes can be had and touched."""
    try:
        block = bytearray(size)
    except MemoryError:
        return False
    for at in range(0, size, _PAGE):
        block[at] = 1
    return True


def _fork(most: int) -> int:
    """How many processes can be started, up to `most`; they sleep for ever."""
    for number in range(most):
        try:
            pid = os.fork()
        except OSError:
            return number
        if pid == 0:
            while True:
                time.sleep(3600)
    return most


def _fill(size: int) -> int:
    """How many bytes go into files in its scratch, up to `size`."""
    written = 0
    with open("fill", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while written < size:
            written += file.write(b"x" * (1 << 16))
    return written


def _flood(size: int) -> int:
    """How many bytes stdout takes, up to `size`."""
    written = 0
    with contextlib.suppress(OSError):
        while written < size:
            written += os.write(1, b"x" * _PAGE)
    return written


def _pattern(_: Any) -> list[int]:
    """Address and length of bytes 0, 1, … 255, 0, 1, …"""
    return [ctypes.addressof(_PATTERN), len(_PATTERN) - 1]


_PROBES: dict[str, Callable[[Any], object]] = {
    "environment": _environment,
    "descriptors": _descriptors,
    "sockets": _sockets,
    "write": _write,
    "read": _read,
    "rename": _rename,
    "privileges": _privileges,
    "allocate": _allocate,
    "fork": _fork,
    "fill": _fill,
    "flood": _flood,
    "pattern": _pattern,
}
