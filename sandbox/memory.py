"""Reading another process's memory with process_vm_readv(2), or from its file in /proc where that call is closed, as
engines close it in a default container."""

from __future__ import annotations

import array
import contextlib
import ctypes
import errno
import os
from collections.abc import Iterator, Sequence

from sandbox.api import MemoryUnreadable
from sandbox.syscalls import call

SPANS_PER_CALL = 512
MAX_SPANS_BYTES = 1 << 30
_CHUNK = 256 << 20
_ADDRESS_END = 1 << 56
_UNCHANGED = -1


def read_spans(pid: int, spans: Sequence[tuple[int, int]]) -> bytes:
    """The bytes of (address, length) spans, concatenated; at most MAX_SPANS_BYTES in all.

    The spans may come from the process itself. Raises MemoryUnreadable for any that is not readable or not
    sensible, ProcessLookupError when there is no such process.
    """
    for address, length in spans:
        _check(address, length)
    total = sum(length for _, length in spans)
    if total > MAX_SPANS_BYTES:
        raise MemoryUnreadable(f"{total} bytes are more than {MAX_SPANS_BYTES} in one reading")
    buffer = bytearray(total)
    with memoryview(buffer) as view:
        at = 0
        for first in range(0, len(spans), SPANS_PER_CALL):
            batch = [s for s in spans[first : first + SPANS_PER_CALL] if s[1]]
            size = sum(length for _, length in batch)
            if size:
                _read(pid, batch, view[at : at + size])
            at += size
    return bytes(buffer)


def read_into(pid: int, address: int, target: memoryview) -> None:
    """Fill the writable, contiguous `target` from `address`. Raises as `read_spans`."""
    with target.cast("B") as view:
        _check(address, len(view))
        for at in range(0, len(view), _CHUNK):
            part = view[at : at + _CHUNK]
            _read(pid, [(address + at, len(part))], part)


@contextlib.contextmanager
def real_ids(account: tuple[int, int] | None) -> Iterator[None]:
    """Have uid and gid of `account` as the calling thread's real and file system ids: the kernel compares the former
    for the call, the latter for the file.

    For a root that may not trace (without CAP_SYS_PTRACE, as in a container). With None nothing changes.
    """
    if account is None:
        yield
        return
    uid, gid = account
    call("setresgid", gid, _UNCHANGED, _UNCHANGED)
    try:
        call("setresuid", uid, _UNCHANGED, _UNCHANGED)
        call("setfsgid", gid)
        call("setfsuid", uid)
        yield
    finally:
        call("setfsuid", 0)
        call("setfsgid", 0)
        call("setresuid", 0, _UNCHANGED, _UNCHANGED)
        call("setresgid", 0, _UNCHANGED, _UNCHANGED)


def _check(address: object, length: object) -> None:
    if type(address) is not int or type(length) is not int:
        raise MemoryUnreadable("a span is two integers")
    if length < 0 or address < 0 or address + length > _ADDRESS_END:
        raise MemoryUnreadable(f"no such span: {length} bytes at {address:#x}")


def _read(pid: int, spans: Sequence[tuple[int, int]], target: memoryview) -> None:
    remote = array.array("Q", [word for span in spans for word in span])
    pinned = (ctypes.c_char * len(target)).from_buffer(target)
    try:
        local = array.array("Q", [ctypes.addressof(pinned), len(target)])
        got = call(
            "process_vm_readv",
            pid,
            ctypes.c_void_p(local.buffer_info()[0]),
            1,
            ctypes.c_void_p(remote.buffer_info()[0]),
            len(spans),
            0,
        )
    except OSError as e:
        if e.errno == errno.ESRCH:
            raise
        if e.errno != errno.EPERM:
            raise MemoryUnreadable(str(e)) from e
        got = _read_file(pid, spans, target)
    finally:
        del pinned
    if got != len(target):
        raise MemoryUnreadable(f"only {got} of {len(target)} bytes are mapped")


def _read_file(pid: int, spans: Sequence[tuple[int, int]], target: memoryview) -> int:
    """How many bytes came, up to the first that is not mapped."""
    at = 0
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
            for address, length in spans:
                got = os.preadv(file.fileno(), [target[at : at + length]], address)
                at += got
                if got < length:
                    break
    except FileNotFoundError as e:
        raise ProcessLookupError(errno.ESRCH, "no such process") from e
    except OSError as e:
        raise MemoryUnreadable(str(e)) from e
    return at
