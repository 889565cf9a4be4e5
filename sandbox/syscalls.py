"""Raw system calls through ctypes: those that Python 3.11 does not wrap.

Each raises OSError, with the call's name in its text.
"""

from __future__ import annotations

import ctypes
import functools
import os

from sandbox import syscall_table

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
MOUNT_ATTR_NOEXEC = 8

OPEN_TREE_CLONE = 1
OPEN_TREE_CLOEXEC = os.O_CLOEXEC
MOVE_MOUNT_F_EMPTY_PATH = 4

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_CAPABILITY_VERSION_3 = 0x20080522


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def call(name: str, *arguments: object) -> int:
    """Make the system call `name`. Integers are passed as long, bytes as char pointers, None as NULL."""
    number = syscall_table.number(name)
    if number is None:
        raise OSError(f"{name}: this machine has no such system call")
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc().syscall(ctypes.c_long(number), *converted)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def prctl(option: int, argument: int = 0, third: int = 0) -> int:
    """prctl(2) with integer arguments."""
    return call("prctl", option, argument, third, 0, 0)


def unshare(flags: int) -> None:
    """unshare(2)."""
    call("unshare", flags)


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    """mount(2)."""
    call("mount", os.fsencode(source), os.fsencode(target), kind.encode(), flags, data.encode() or None)


def clone_tree(path: str, attributes: int) -> int:
    """A detached recursive copy of the mounts at `path`, with MOUNT_ATTR_* set on all of it, as a descriptor."""
    fd = call("open_tree", AT_FDCWD, os.fsencode(path), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)
    try:
        _set_attributes(fd, b"", AT_EMPTY_PATH | AT_RECURSIVE, attributes)
    except OSError:
        os.close(fd)
        raise
    return fd


def attach_tree(fd: int, target: str) -> None:
    """Attach what `clone_tree` made at `target`, and close the descriptor."""
    try:
        call("move_mount", fd, b"", AT_FDCWD, os.fsencode(target), MOVE_MOUNT_F_EMPTY_PATH)
    finally:
        os.close(fd)


def set_mount_attributes(path: str, attributes: int) -> None:
    """Set MOUNT_ATTR_* on the one mount at `path`."""
    _set_attributes(AT_FDCWD, os.fsencode(path), 0, attributes)


def _set_attributes(fd: int, path: bytes, flags: int, attributes: int) -> None:
    request = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    call("mount_setattr", fd, path, flags, request, ctypes.sizeof(request))


def empty_bounding_set() -> None:
    """Give up for good what executing a file could give the calling thread. Needs CAP_SETPCAP."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            if capability == 0:
                raise
            break


def drop_capabilities() -> None:
    """Empty the ambient, inheritable, permitted and effective sets of the calling thread."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())
