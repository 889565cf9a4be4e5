"""Control groups for sandboxes: memory and number of processes, version 1 or 2, where this process may make them.

There is no quota of processor time: a sandbox cannot leave its cores (affinity, seccomp), and a quota would stop a
timed call in its midst.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.api import Limits

_PREFIX = "kernelwright"
_NAME = re.compile(rf"{_PREFIX}-(\d+)-\d+")
_REMOVE_SECONDS = 2.0
_CONTROLLERS = ("memory", "pids")
_OOM_FILES = {1: "memory.oom_control", 2: "memory.events"}


@dataclass(frozen=True)
class _Base:
    """A group below which this process makes others."""

    version: int
    folder: Path


@dataclass(frozen=True)
class Group:
    """The control groups of one sandbox."""

    folders: tuple[Path, ...]
    oom_file: Path | None

    @property
    def members(self) -> tuple[str, ...]:
        """The files that a process writes "0" into to join."""
        return tuple(str(f / "cgroup.procs") for f in self.folders)

    @property
    def bounds_memory(self) -> bool:
        """Whether memory is bounded by a group."""
        return self.oom_file is not None

    def oom_kills(self) -> int:
        """How many processes of the group the kernel killed for want of memory."""
        if self.oom_file is None:
            return 0
        found = re.search(r"^oom_kill (\d+)$", self.oom_file.read_text(encoding="ascii"), re.MULTILINE)
        return int(found[1]) if found else 0

    def remove(self) -> None:
        """Remove the groups once they are empty. Raises OSError where they do not become so in time."""
        deadline = time.monotonic() + _REMOVE_SECONDS
        for folder in self.folders:
            while not _removed(folder):
                if time.monotonic() > deadline:
                    raise OSError(f"{folder} does not become empty")
                time.sleep(0.001)


class Cgroups:
    """Makes groups below or beside those this process is in. Where it may not, groups are empty and bound nothing."""

    def __init__(self, own: Path = Path("/proc/self")) -> None:
        """own: this process's folder in /proc, whose `mountinfo` and `cgroup` say where groups are."""
        self._numbers = itertools.count()
        self._bases = _find_bases(own)
        for base in self._bases.values():
            _sweep(base.folder)

    @property
    def memory(self) -> bool:
        """Whether groups bound memory here."""
        return "memory" in self._bases

    def make(self, limits: Limits) -> Group:
        """A group with these limits. Raises OSError."""
        name = f"{_PREFIX}-{os.getpid()}-{next(self._numbers)}"
        folders = tuple(dict.fromkeys(base.folder / name for base in self._bases.values()))
        made: list[Path] = []
        try:
            for folder in folders:
                folder.mkdir()
                made.append(folder)
            self._limit(name, limits)
        except OSError:
            for folder in made:
                folder.rmdir()
            raise
        memory = self._bases.get("memory")
        return Group(folders, memory.folder / name / _OOM_FILES[memory.version] if memory else None)

    def _limit(self, name: str, limits: Limits) -> None:
        processes, memory = self._bases.get("pids"), self._bases.get("memory")
        if processes:
            _put(processes.folder / name / "pids.max", limits.processes)
        if memory and memory.version == 1:
            _put(memory.folder / name / "memory.limit_in_bytes", limits.memory_bytes)
            _put_if_there(memory.folder / name / "memory.memsw.limit_in_bytes", limits.memory_bytes)
        elif memory:
            _put(memory.folder / name / "memory.max", limits.memory_bytes)
            _put_if_there(memory.folder / name / "memory.swap.max", 0)


def _put(file: Path, value: int | str) -> None:
    file.write_text(str(value), encoding="ascii")


def _put_if_there(file: Path, value: int) -> None:
    if file.exists():
        _put(file, value)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _find_bases(own: Path) -> dict[str, _Base]:
    """Per controller, where this process may make groups."""
    mounts = list(_mounts(own))
    memberships = _memberships(own)
    found: dict[str, _Base] = {}
    for controller in _CONTROLLERS:
        for kind, options, root, place in mounts:
            if kind == "cgroup" and controller in options and controller in memberships:
                folder = place / os.path.relpath(memberships[controller], root)
                if _may_make(folder):
                    found[controller] = _Base(1, folder)
    for kind, _, root, place in mounts:
        if kind == "cgroup2" and "" in memberships:
            for folder in _candidates(place, place / os.path.relpath(memberships[""], root)):
                for controller in _delegated(folder):
                    found.setdefault(controller, _Base(2, folder))
    return found


def _candidates(top: Path, group: Path) -> Iterator[Path]:
    """Version 2 groups whose children may have limits: this process's own, the one above it (a service manager that
    delegates puts the process into a group below the delegated one), the topmost."""
    yield group
    if group != top:
        yield group.parent
        yield top


def _mounts(own: Path) -> Iterator[tuple[str, list[str], str, Path]]:
    """Every mount: file system type, options of its super block, its root, its place."""
    for line in (own / "mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        words, tail = before.split(), after.split()
        yield tail[0], tail[2].split(","), words[3], Path(words[4])


def _memberships(own: Path) -> dict[str, str]:
    """This process's group per version 1 controller; under "" that of version 2."""
    groups: dict[str, str] = {}
    for line in (own / "cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def _may_make(base: Path) -> bool:
    """Whether groups can be made here that processes can join."""
    trial = base / f"{_PREFIX}-{os.getpid()}-{time.monotonic_ns()}"
    try:
        trial.mkdir()
    except OSError:
        return False
    joinable = _kind(trial) == "domain"
    trial.rmdir()
    return joinable


def _kind(group: Path) -> str:
    """Version 2 says of some groups that nobody can join them; version 1 knows only those that one can."""
    try:
        return (group / "cgroup.type").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return "domain"


def _delegated(folder: Path) -> list[str]:
    """Controllers that the children of a version 2 group have. They are switched on where that is allowed.

    A group that holds processes itself may have none switched on but `pids`, unless it is the topmost; then its
    children become such that nobody can join them, so that is undone.
    """
    control = folder / "cgroup.subtree_control"
    missing = [
        c for c in _words(folder / "cgroup.controllers") if c in _CONTROLLERS and c not in _words(control)
    ]
    switched = bool(missing) and _switched(control, "+", missing)
    wanted = [c for c in _CONTROLLERS if c in _words(control)]
    if wanted and _may_make(folder):
        return wanted
    if switched:
        _switched(control, "-", missing)
    return []


def _switched(control: Path, sign: str, controllers: Sequence[str]) -> bool:
    """Switch controllers on or off, all or none; whether that was allowed."""
    try:
        _put(control, " ".join(f"{sign}{c}" for c in controllers))
    except OSError:
        return False
    return True


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except OSError:
        return []


def _sweep(base: Path) -> None:
    """Remove groups left by a judge that was killed."""
    for folder in base.glob(f"{_PREFIX}-*"):
        match = _NAME.fullmatch(folder.name)
        if match and not Path("/proc", match[1]).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()
