"""What an engine is asked for: the limits and closures of a profile, in the words of the Engine API."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox.api import Limits, Profile, SandboxError
from sandbox.docker_config import HAND_OVER, OWNER_LABEL, Place, container, scratch
from sandbox.docker_settings import EngineSettings

LIMITS = Limits(memory_bytes=1 << 30, processes=17, tmpfs_bytes=5 << 20, file_bytes=3 << 20, open_files=99)
PLACE = Place(4711, 4712, True, Path("/tmp/folder"), "volume", "judge")


def asked(
    profile: Profile | None = None, settings: EngineSettings | None = None, place: Place = PLACE
) -> dict[str, Any]:
    return container(settings or EngineSettings(), place, profile or Profile(limits=LIMITS), ["sandbox.cold"])


def host_config(profile: Profile | None = None, settings: EngineSettings | None = None) -> dict[str, Any]:
    config: dict[str, Any] = asked(profile, settings)["host_config"]
    return config


def mounts(profile: Profile) -> dict[str, dict[str, Any]]:
    return {mount["Target"]: mount for mount in host_config(profile)["Mounts"]}


def test_a_container_is_closed() -> None:
    config = host_config()
    assert config["NetworkMode"] == "none"
    assert config["ReadonlyRootfs"] is True
    assert config["CapDrop"] == ["ALL"]
    assert "CapAdd" not in config
    assert "Privileged" not in config
    assert (config["IpcMode"], config["CgroupnsMode"]) == ("none", "private")
    assert asked()["user"] == "4711:4712"
    assert asked()["hostname"] == "sandbox"
    assert asked()["labels"] == {OWNER_LABEL: "judge"}


def test_new_privileges_and_system_calls_are_closed() -> None:
    privileges, filtered = host_config()["SecurityOpt"]
    assert privileges == "no-new-privileges"
    profile = json.loads(filtered.removeprefix("seccomp="))  # text, never the name of a file
    assert "io_uring_setup" in profile["syscalls"][0]["names"]


def test_limits_are_the_profile_s() -> None:
    config = host_config()
    assert config["PidsLimit"] == 17
    assert config["Memory"] == config["MemorySwap"] == 1 << 30
    limits = {entry["Name"]: (entry["Soft"], entry["Hard"]) for entry in config["Ulimits"]}
    assert limits == {"nofile": (99, 99), "fsize": (3 << 20, 3 << 20)}
    options = str(scratch(PLACE, LIMITS)["driver_opts"])
    for option in (f"size={5 << 20}", "uid=4711", "gid=4712", "mode=0700", "nosuid", "nodev"):
        assert option in options


def test_cores_are_bound_where_they_are_named() -> None:
    assert host_config(Profile(cores=(1, 3)))["CpusetCpus"] == "1,3"
    assert host_config(Profile())["CpusetCpus"] == ""


def test_scratch_is_one_volume_in_both_its_places() -> None:
    found = mounts(Profile())
    assert {found[place]["Source"] for place in ("/tmp", "/dev/shm")} == {"volume"}


def test_everything_of_the_host_is_read_only() -> None:
    binds = [mount for mount in mounts(Profile()).values() if mount["Type"] == "bind"]
    assert binds
    for mount in binds:
        assert mount["ReadOnly"] is True
        assert mount["BindOptions"] == {"Propagation": "rprivate", "NonRecursive": True}


def test_the_host_s_system_is_not_shown(tmp_path: Path) -> None:
    targets = set(mounts(Profile(readable=(tmp_path,))))
    assert str(tmp_path) in targets
    assert HAND_OVER in targets
    assert targets.isdisjoint({"/", "/etc", "/var", "/home", "/run", "/lib", "/bin"})


def test_a_mask_wins_over_what_shows_it(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.touch()
    found = mounts(Profile(readable=(folder, file), masked=(folder, file)))
    assert (found[str(folder)]["Type"], found[str(folder)]["ReadOnly"]) == ("tmpfs", True)
    assert found[str(file)]["Source"] == os.devnull


def test_a_readable_path_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="does not exist"):
        asked(Profile(readable=(tmp_path / "nothing",)))


def test_what_tells_of_the_whole_host_is_masked() -> None:
    assert {"/proc/loadavg", "/proc/kcore", "/proc/stat", "/proc/timer_list"} <= set(
        host_config()["MaskedPaths"]
    )


def test_runtime_and_gpus_are_asked_for_where_they_are_set() -> None:
    plain = host_config()
    assert "Runtime" not in plain
    assert "DeviceRequests" not in plain
    config = host_config(settings=EngineSettings(runtime="runsc", gpus=("0", "GPU-4a")))
    assert config["Runtime"] == "runsc"
    (request,) = config["DeviceRequests"]
    assert request["DeviceIDs"] == ["0", "GPU-4a"]
    assert request["Capabilities"] == [["gpu"]]


def test_devices_come_with_all_of_sys() -> None:
    profile = Profile(devices=(Path("/dev/zero"),))
    assert host_config(profile)["Devices"] == [
        {"PathOnHost": "/dev/zero", "PathInContainer": "/dev/zero", "CgroupPermissions": "rw"}
    ]
    assert mounts(profile)["/sys"]["Source"] == "/sys"
    assert mounts(Profile())["/sys"]["Type"] == "tmpfs"


def test_imports_wait_for_timed_work_only_where_the_judge_can_hurry_them() -> None:
    shared = Place(1000, 1000, False, Path("/tmp/folder"), "volume", "judge")
    assert "idle" in asked()["entrypoint"]
    assert "idle" not in asked(place=shared)["entrypoint"]
