"""Control groups: made with their limits, removed, and the leftovers of a killed judge swept."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox.api import Limits
from sandbox.cgroups import Cgroups, Group


def test_kills_for_want_of_memory_are_counted_in_either_version(tmp_path: Path) -> None:
    for text in (
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        "low 0\noom 1\noom_kill 3\noom_group_kill 0\n",
    ):
        (tmp_path / "events").write_text(text)
        assert Group((), tmp_path / "events").oom_kills() == 3


def test_a_group_that_bounds_nothing_counts_nothing() -> None:
    group = Group((), None)
    assert not group.bounds_memory
    assert group.oom_kills() == 0
    assert group.members == ()
    group.remove()


@pytest.fixture
def host() -> Cgroups:
    cgroups = Cgroups()
    if not cgroups.memory:
        pytest.skip("this process may not make control groups that bound memory")
    return cgroups


def test_a_group_has_its_limits_and_goes_away(host: Cgroups) -> None:
    group = host.make(Limits(memory_bytes=64 << 20, processes=7))
    limits = {
        file.read_text().strip()
        for folder in group.folders
        for name in ("memory.limit_in_bytes", "memory.max", "pids.max")
        if (file := folder / name).exists()
    }
    assert limits == {str(64 << 20), "7"}
    group.remove()
    group.remove()
    assert not any(folder.exists() for folder in group.folders)


def test_groups_of_a_judge_that_is_gone_are_swept(host: Cgroups) -> None:
    ended = subprocess.run(["/bin/sh", "-c", "echo $$"], capture_output=True, check=True, text=True)
    group = host.make(Limits())
    left = [f.with_name(f"kernelwright-{int(ended.stdout)}-0") for f in group.folders]
    for folder in left:
        folder.mkdir()
    Cgroups()
    assert not any(folder.exists() for folder in left)
    assert all(folder.exists() for folder in group.folders)
    group.remove()


def version_2(tmp_path: Path, group: str, delegated: str) -> Path:
    """A folder of /proc of a process in `group` of a tree in which `delegated` lets its children have limits."""
    top = tmp_path / "tree"
    (top / group.lstrip("/")).mkdir(parents=True)
    (top / delegated.lstrip("/") / "cgroup.subtree_control").write_text("cpu memory pids\n")
    own = tmp_path / "own"
    own.mkdir()
    (own / "mountinfo").write_text(
        f"24 1 0:21 / /sys rw - sysfs sysfs rw\n31 24 0:27 / {top} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    )
    (own / "cgroup").write_text(f"0::{group}\n")
    return own


@pytest.mark.parametrize(
    ("group", "delegated"),
    [("/", "/"), ("/service", "/service"), ("/service/own", "/service"), ("/user/session", "/")],
    ids=["topmost", "its own", "a service manager's", "the topmost for others"],
)
def test_in_version_2_groups_are_made_where_children_may_have_limits(
    tmp_path: Path, group: str, delegated: str
) -> None:
    cgroups = Cgroups(version_2(tmp_path, group, delegated))
    assert cgroups.memory
    made = cgroups.make(Limits(memory_bytes=64 << 20, processes=7))
    (folder,) = made.folders
    assert folder.parent == tmp_path / "tree" / delegated.lstrip("/")
    assert (folder / "memory.max").read_text() == str(64 << 20)
    assert (folder / "pids.max").read_text() == "7"
    assert made.members == (str(folder / "cgroup.procs"),)


def test_in_version_2_without_delegation_groups_bound_nothing(tmp_path: Path) -> None:
    own = version_2(tmp_path, "/service", "/")
    (tmp_path / "tree" / "cgroup.subtree_control").write_text("cpu io\n")
    cgroups = Cgroups(own)
    assert not cgroups.memory
    assert cgroups.make(Limits()).folders == ()
