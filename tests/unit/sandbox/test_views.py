"""What Landlock lets a process reach where it has no root of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from sandbox import rootfs, views
from sandbox.api import Profile


def test_what_is_masked_is_left_out_and_all_beside_it_is_readable(tmp_path: Path) -> None:
    for name in ("a/hidden/x", "a/seen/x", "a/deep/hidden/x", "a/deep/seen", "b/x"):
        (tmp_path / name).mkdir(parents=True)
    masked = (tmp_path / "a/hidden", tmp_path / "a/deep/hidden")
    view = views.of_host(Profile(readable=(tmp_path / "a", tmp_path / "b"), masked=masked), "/scratch")
    base = str(tmp_path.resolve())
    assert {p for p in view.readable if p.startswith(base)} == {
        f"{base}/{name}" for name in ("a/seen", "a/deep/seen", "b")
    }
    assert {p for p in view.listed if p.startswith(base)} == {f"{base}/{name}" for name in ("a", "a/deep")}
    assert view.writable == ("/scratch",)
    assert view.scratch == "/scratch"


def test_the_interpreter_is_readable_and_our_own_code_is_not() -> None:
    ours = Path(rootfs.__file__).resolve().parent
    view = views.of_host(Profile(readable=(ours.parent,)), "/scratch")
    assert any(Path(sys.executable).resolve().is_relative_to(path) for path in view.readable)
    assert not any(ours.is_relative_to(path) for path in view.readable)


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a" / "hidden").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("/etc")
    view = views.of_host(Profile((tmp_path / "a",), (tmp_path / "a" / "hidden",)), "/scratch")
    assert not any(path.endswith("link") or path.startswith("/etc/shadow") for path in view.readable)


def test_files_that_tell_of_the_whole_host_are_not_readable() -> None:
    view = views.of_host(Profile(), "/scratch")
    for told in ("/proc/stat", "/proc/loadavg", "/sys/devices/system/node/node0/meminfo"):
        assert not any(Path(told).is_relative_to(path) for path in view.readable)
