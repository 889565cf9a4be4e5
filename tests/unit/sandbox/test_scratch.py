"""Scratch folders on the host: private, and removed whatever lies in them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.scratch import ScratchFolders, remove


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def test_a_folder_is_private_and_goes_with_all_others(tmp_path: Path) -> None:
    folders = ScratchFolders(tmp_path)
    made = Path(folders.make(os.getuid(), os.getgid()))
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert made.is_relative_to(tmp_path)
    (made / "file").write_text("data")
    folders.close()
    folders.close()
    assert list(tmp_path.iterdir()) == []


def test_folders_deeper_than_a_path_may_be_long_are_removed(folder: Path) -> None:
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(200):
            name = "d" * 100
            os.mkdir(name)
            os.chdir(name)
            Path("file").write_text("data")
    finally:
        os.chdir(here)
    remove(str(folder))
    assert not folder.exists()


def test_closed_folders_are_removed(folder: Path) -> None:
    (folder / "closed" / "inner").mkdir(parents=True)
    (folder / "closed" / "inner").chmod(0)
    (folder / "closed").chmod(0)
    folder.chmod(0)
    remove(str(folder))
    assert not folder.exists()


def test_links_lead_nowhere(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("data")
    kept.chmod(0o750)
    (folder / "link").symlink_to(kept)
    (folder / "dead").symlink_to("nowhere")
    (folder / "inner").mkdir()
    (folder / "inner" / "link").symlink_to(kept)
    remove(str(folder))
    assert (kept / "file").read_text() == "data"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o750


KILLED = """
import os, signal, sys
from pathlib import Path
from sandbox.scratch import ScratchFolders
folder = ScratchFolders(Path(sys.argv[1])).make(os.getuid(), os.getgid())
Path(folder, "file").write_text("data")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_folders_of_a_judge_that_is_gone_are_swept_and_no_others(tmp_path: Path) -> None:
    living = ScratchFolders(tmp_path)
    (kept,) = tmp_path.iterdir()
    path = os.pathsep.join(p for p in sys.path if p)
    subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], check=False, env={**os.environ, "PYTHONPATH": path}
    )
    assert len(list(tmp_path.iterdir())) == 2
    ScratchFolders(tmp_path).close()
    assert list(tmp_path.iterdir()) == [kept]
    living.close()
