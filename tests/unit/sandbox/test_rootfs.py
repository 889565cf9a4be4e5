"""Which host paths a sandbox shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sandbox import rootfs
from sandbox.api import Limits, Profile, SandboxError


def targets(profile: Profile) -> list[str]:
    return [b.target for b in rootfs.plan(profile).binds]


def shown(path: Path | str, profile: Profile) -> bool:
    return any(Path(path).is_relative_to(t) for t in targets(profile))


def test_the_system_and_the_interpreter_are_shown() -> None:
    for path in ("/usr/bin", sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve())):
        assert shown(path, Profile())


def test_home_and_system_data_are_not_shown() -> None:
    for path in ("/etc/shadow", "/var", "/run", "/home", "/proc", "/", "/etc"):
        assert not shown(path, Profile())


def test_a_path_below_a_shown_one_is_not_bound_again(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    profile = Profile(readable=(tmp_path / "a" / "b", tmp_path / "a", Path("/usr/share")))
    assert [t for t in targets(profile) if t.startswith(str(tmp_path))] == [str(tmp_path / "a")]
    assert "/usr/share" not in targets(profile)


def test_a_symbolic_link_is_shown_at_both_places(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    plan = rootfs.plan(Profile(readable=(tmp_path / "link",)))
    binds = {b.target: b.source for b in plan.binds}
    real = str((tmp_path / "real").resolve())
    assert binds[real] == real
    assert binds[str(tmp_path / "link")] == real


def test_only_what_is_shown_is_masked(tmp_path: Path) -> None:
    for name in ("shown/hidden", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    masked = (tmp_path / "shown" / "hidden", tmp_path / "elsewhere", tmp_path / "shown" / "absent")
    plan = rootfs.plan(Profile((tmp_path / "shown",), masked))
    assert [m for m in plan.masked if m.startswith(str(tmp_path.resolve()))] == [
        str((tmp_path / "shown" / "hidden").resolve())
    ]


def test_our_own_packages_are_masked_wherever_they_are_shown() -> None:
    checkout = Path(rootfs.__file__).resolve().parents[1]
    plan = rootfs.plan(Profile(readable=(checkout / "sandbox",)))
    assert str(checkout / "sandbox") in plan.masked


@pytest.mark.parametrize("path", ["/", "/etc", "/proc", "/dev"])
def test_what_would_uncover_the_host_is_refused(path: str) -> None:
    with pytest.raises(SandboxError, match="cannot be shown"):
        rootfs.plan(Profile(readable=(Path(path),)))


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="does not exist"):
        rootfs.plan(Profile(readable=(tmp_path / "absent",)))


def test_the_scratch_has_the_profile_s_size() -> None:
    assert rootfs.plan(Profile(limits=Limits(tmpfs_bytes=12345))).scratch_bytes == 12345


def test_with_a_device_comes_what_its_driver_reads() -> None:
    assert "/sys" not in {b.target for b in rootfs.plan(Profile()).binds}
    assert "/sys" in {b.target for b in rootfs.plan(Profile(devices=(Path("/dev/null"),))).binds}


@pytest.mark.parametrize("path", ["/dev/absent", "/dev", "/etc/passwd"])
def test_what_is_no_device_is_refused(path: str) -> None:
    with pytest.raises(SandboxError, match="no character device"):
        rootfs.plan(Profile(devices=(Path(path),)))
