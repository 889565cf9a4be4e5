"""What a sandbox may reach of the file system: of its own root, or of the host's where it has none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from sandbox import mounts, rootfs
from sandbox.api import Profile
from sandbox.spec import View

_OWN_NAMES = "/proc/self/task"
"""Where a thread's name is written: drivers of devices insist on giving theirs one."""

_FILES = (
    *("/proc/cpuinfo", "/proc/sys/vm/overcommit_memory"),
    *("/proc/self/maps", "/proc/self/stat", "/proc/self/status", "/proc/self/fd"),
)
"""Of /proc, where it is the host's. What is named "self" is the first process's, found when it restricts itself; those
that it starts cannot read their own."""


def of_own_root(profile: Profile) -> View:
    """All of a root of its own."""
    return View(("/",), (), _writable(profile, *mounts.SCRATCH), _devices(profile))


def _writable(profile: Profile, *scratch: str) -> tuple[str, ...]:
    return (*scratch, _OWN_NAMES) if profile.devices else scratch


def _devices(profile: Profile) -> tuple[str, ...]:
    return tuple(map(str, profile.devices))


def of_host(profile: Profile, scratch: str) -> View:
    """The paths that a root of its own would show, where they are, and the folder `scratch`.

    The names of what is masked can still be listed, since a right to list a folder extends to all below. Raises as
    `rootfs.plan`.
    """
    plan = rootfs.plan(profile)
    readable: list[str] = []
    listed: list[str] = []
    for source in dict.fromkeys(bind.source for bind in plan.binds):
        for path, whole in _parts(source, plan.masked):
            (readable if whole else listed).append(path)
    readable += (path for path in _FILES if os.path.exists(path))
    return View(tuple(readable), tuple(listed), _writable(profile, scratch), _devices(profile))


def _parts(path: str, masked: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """`path` split at what is masked: folders to be shown whole, and (False) those of which only names are."""
    inside = [m for m in masked if m == path or m.startswith(path.rstrip("/") + "/")]
    if not inside:
        yield path, True
    elif path not in inside:
        yield path, False
        for entry in os.scandir(path):
            if not entry.is_symlink():
                yield from _parts(entry.path, inside)
