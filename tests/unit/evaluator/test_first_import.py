"""What a first import leaves for runners: what was built, and nothing else."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from evaluator.build.first_import import compiles_at_import, uses_extensions
from evaluator.build.tools import harness
from evaluator.harness import loading
from evaluator.problem.candidate import Candidate, Language


def candidate(text: str) -> Candidate:
    return Candidate({"candidate.py": text}, Language.PYTHON)


def test_who_compiles_at_import_is_told_by_words() -> None:
    inline = candidate("from torch.utils.cpp_extension import load_inline")
    lifted = candidate("from torch._inductor.async_compile import AsyncCompile")
    plain = candidate("run = torch.compile(f)")
    assert [compiles_at_import(c) for c in (inline, lifted, plain)] == [True, True, False]
    assert [uses_extensions(c) for c in (inline, lifted, plain)] == [True, False, False]


def test_our_code_in_the_sandbox_needs_no_other_of_ours() -> None:
    for name, text in harness().items():
        lines = [line for line in text.decode().splitlines() if line.startswith(("from ", "import "))]
        ours = [line for line in lines if line.split()[1].split(".")[0] in ("evaluator", "sandbox", "agent")]
        assert all(line.split()[1].startswith("evaluator.harness") for line in ours), name


def archive(path: Path, *names: str) -> int:
    with tarfile.open(path, "w") as target:
        for name in names:
            source = path.with_name("source")
            source.write_bytes(name.encode())
            os.utime(source, (1000, 1000))
            target.add(source, arcname=name)
    return os.open(path, os.O_RDONLY)


def test_an_archive_is_laid_out_with_its_times(tmp_path: Path) -> None:
    loading.unpack(archive(tmp_path / "a.tar", "extensions/ext/ext.so"), str(tmp_path / "out"))
    laid = tmp_path / "out" / "extensions" / "ext" / "ext.so"
    assert laid.read_bytes() == b"extensions/ext/ext.so"
    assert laid.stat().st_mtime == 1000


def test_an_archive_cannot_leave_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leaves"):
        loading.unpack(archive(tmp_path / "a.tar", "../elsewhere"), str(tmp_path / "out"))
    assert not (tmp_path / "elsewhere").exists()


def test_links_in_an_archive_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    link = tmp_path / "link"
    link.symlink_to("/etc/passwd")
    with tarfile.open(path, "w") as target:
        target.add(link, arcname="extensions/link")
    loading.unpack(os.open(path, os.O_RDONLY), str(tmp_path / "out"))
    assert not (tmp_path / "out" / "extensions" / "link").exists()
