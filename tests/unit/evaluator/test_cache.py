"""The build cache: what was put under a key comes back, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluator.build.cache import BuildCache


def test_a_library_comes_back_under_its_key_only(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    assert cache.get("ab12") is None
    cache.put("ab12", b"\x7fELF\0")
    cache.put("ab13", b"other")
    assert cache.get("ab12") == b"\x7fELF\0"
    assert BuildCache(tmp_path / "cache").get("ab13") == b"other"
    assert cache.get("ffff") is None


def test_nothing_but_whole_entries_is_left_in_the_folder(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.put("ab12", b"first")
    cache.put("ab12", b"again")
    assert cache.get("ab12") == b"again"
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["ab12.so"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    os.makedirs(tmp_path / "ab" / "ab12.so")
    with pytest.raises(OSError):
        cache.put("ab12", b"bytes")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
