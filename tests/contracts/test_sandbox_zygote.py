"""The fork server: what it preloads, what it refuses, and that spawning leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from sandbox.api import Profile, Sandbox, SandboxError, Zygote
from tests.contracts.inside import SECONDS, SMALL


class TestZygote:
    def test_a_module_that_was_not_preloaded_is_refused(self, zygote: Zygote) -> None:
        with pytest.raises(ValueError, match="preloaded"):
            zygote.spawn("os:abort", Profile())

    def test_a_module_that_cannot_be_imported_is_named(self, backend: Sandbox) -> None:
        with pytest.raises(SandboxError, match="no_such_module"):
            backend.zygote(["no_such_module"])

    def test_fifty_spawns_leave_nothing(self, zygote: Zygote) -> None:
        profile = Profile(limits=SMALL)
        zygote.spawn("sandbox_entries:hang", profile).kill()
        before = _held()
        for number in range(50):
            process = zygote.spawn(
                "sandbox_entries:evaluate" if number % 2 else "sandbox_entries:fail", profile
            )
            if number % 3 == 0:
                process.poll()
            process.kill()
        deadline = time.monotonic() + SECONDS
        while any(now > then for now, then in zip(_held(), before, strict=True)):
            assert time.monotonic() < deadline, (before, _held())
            time.sleep(0.02)


def _held() -> tuple[int, int, int, int, int]:
    """This process's descriptors, its processes below, mounts, control groups and scratch folders of sandboxes."""
    me = str(os.getpid())
    ours = [g for g in Path("/sys/fs/cgroup").rglob(f"kernelwright-{me}-*") if g.is_dir()]
    mounts = Path("/proc/self/mounts").read_text().count("\n")
    opened = {os.path.realpath(fd) for fd in Path("/proc/self/fd").iterdir()}
    own = [path for path in map(Path, opened) if path.name.startswith("kernelwright-scratch-")]
    scratch = [folder for base in own for folder in base.iterdir()]
    return len(os.listdir("/proc/self/fd")), len(_descendants(me)), mounts, len(ours), len(scratch)


def _descendants(root: str) -> set[str]:
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            parents[name] = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
    found = {root}
    while grown := {p for p, parent in parents.items() if parent in found} - found:
        found |= grown
    return found - {root}
