"""Telling the processes of one sandbox from others, in a folder that looks like a /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.api import SandboxError
from sandbox.kin import Descendants, Namespace, SameUid


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """The folder, and a descriptor of it. Init is 1, the judge 50, a keeper 60; 2 is a thread of the kernel."""
    for pid, parent, uid in ((1, 0, 0), (2, 0, 0), (50, 1, 0), (60, 50, 0), (61, 60, 700), (70, 61, 700)):
        add(tmp_path, pid, parent, uid)
    (tmp_path / "self").mkdir()
    fd = os.open(tmp_path, os.O_RDONLY)
    yield tmp_path, fd
    os.close(fd)


def add(proc: Path, pid: int, parent: int, uid: int) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "stat").write_text(f"{pid} (a ) R 9 (b) S {parent} 1 1\n")
    (proc / str(pid) / "status").write_text(f"Name:\ta\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nGid:\t0\n")


def test_in_a_namespace_all_others_are_kin(folder: tuple[Path, int]) -> None:
    assert set(Namespace().among(folder[1])) == {"2", "50", "60", "61", "70"}


def test_a_uid_of_its_own_makes_kin(folder: tuple[Path, int]) -> None:
    add(folder[0], 80, 1, 700)
    assert set(SameUid(700, first=61).among(folder[1])) == {"70", "80"}


def test_descent_from_the_keeper_makes_kin(folder: tuple[Path, int]) -> None:
    add(folder[0], 71, 70, 0)
    add(folder[0], 72, 60, 0)
    add(folder[0], 73, 50, 0)
    assert set(Descendants(keeper=60, first=61).among(folder[1])) == {"70", "71", "72"}


def test_a_process_whose_parent_cannot_be_seen_is_not_overlooked(folder: tuple[Path, int]) -> None:
    add(folder[0], 71, 99, 0)
    with pytest.raises(SandboxError, match="too fast"):
        Descendants(keeper=60, first=61).among(folder[1])


def test_a_process_that_is_gone_is_no_kin(folder: tuple[Path, int]) -> None:
    (folder[0] / "81").mkdir()
    assert "81" not in set(SameUid(700, first=61).among(folder[1]))
    assert "81" not in set(Descendants(keeper=60, first=61).among(folder[1]))
