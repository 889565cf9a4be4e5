"""Landlock: what files a process may touch, and that it may neither use TCP nor signal outside its domain.

Best effort up to the newest ABI known here (6: scopes); an older kernel enforces what it knows. From the first on, a
restricted process can neither trace nor read through /proc any process outside its domain. Not guarded: that a file
exists, its size and times, and what its owner may do to it without opening it (chmod, utimes). See
https://docs.kernel.org/userspace-api/landlock.html for the rights by ABI.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Sequence

from sandbox.syscalls import call

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
MAKE_CHAR = 1 << 6
MAKE_BLOCK = 1 << 11
TRUNCATE = 1 << 14
IOCTL_DEVICE = 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
_FS_BITS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP = 0b11
_SCOPES = 0b11
_VERSION = 1
_PATH_BENEATH = 1


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    try:
        return call("landlock_create_ruleset", None, 0, _VERSION)
    except OSError:
        return 0


def restrict(
    writable: Sequence[str],
    devices: Sequence[str],
    readable: Sequence[str] = ("/",),
    listed: Sequence[str] = (),
    controlled: Sequence[str] = (),
) -> int:
    """Restrict the calling thread for good.

    It may read and execute at and below `readable`, see the names below `listed`, write below `writable` and to
    `devices`, and do with the devices `controlled` whatever their drivers offer. Needs no-new-privileges. Returns the
    ABI enforced, 0 where the kernel has no Landlock. Raises OSError.
    """
    version = abi()
    if version == 0:
        return 0
    handled = (1 << _FS_BITS_BY_ABI[min(version, 5)]) - 1
    attributes = (ctypes.c_uint64 * 3)(handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call("landlock_create_ruleset", attributes, size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, READ & handled)
        for path in listed:
            _allow(ruleset, path, READ_DIR)
        for path in writable:
            _allow(ruleset, path, handled & ~(MAKE_CHAR | MAKE_BLOCK))
        for path in devices:
            _allow(ruleset, path, (WRITE_FILE | READ_FILE | TRUNCATE) & handled)
        for path in controlled:
            _allow(ruleset, path, (WRITE_FILE | READ_FILE | IOCTL_DEVICE) & handled)
        call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)
    return version


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE_RIGHTS
        rule = _PathBeneath(rights, fd)
        call("landlock_add_rule", ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(fd)
