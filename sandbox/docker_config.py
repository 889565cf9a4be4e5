"""What a Docker engine is asked for: one container that holds one sandbox, as the Engine API takes it.

Plain data from plain data, so that it can be read and tested without an engine. The names are those of
https://docs.docker.com/reference/api/engine/ (container create).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox import docker_seccomp, rootfs, syscall_table, tales
from sandbox.api import Limits, Profile
from sandbox.docker_settings import EngineSettings
from sandbox.mounts import INODES, SCRATCH

HAND_OVER = "/kernelwright"
"""Where a container finds the socket that leads to the judge, and the code that it begins with."""
CODE = "code.zip"
SOCKET = "judge"
OWNER_LABEL = "kernelwright.judge"

_HIDDEN = ("/sys", "/dev/mqueue", "/dev/pts")
_NO_FOLDER = ("/sys/fs/cgroup",)  # the engine would mount control groups there
_MASKED_BY_THE_ENGINE = (
    *("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"),
    *("/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"),
)
_EMPTY_BYTES = 4096
_OOM_SCORE = 500  # the host's memory killer takes a sandbox before the judge
_LOG = {"Type": "json-file", "Config": {"max-size": "64k", "max-file": "1"}}
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
}

_IDLE = "idle"
BOOT = (
    "import sys; from sys import argv; sys.path[:] = [argv[1] + '/" + CODE + "', *argv[4:]]; "
    "from sandbox.docker_inside import serve; serve(argv[1] + '/"
    + SOCKET
    + "', argv[2].split(','), argv[3] == '"
    + _IDLE
    + "')"
)


_Mount = dict[str, object]


@dataclass(frozen=True)
class Place:
    """What a container gets from this judge.

    uid, gid: of its own where own_uid, else the judge's. folder: is handed over. volume: its scratch. owner: a label.
    """

    uid: int
    gid: int
    own_uid: bool
    folder: Path
    volume: str
    owner: str


def container(
    settings: EngineSettings, place: Place, profile: Profile, preload: Iterable[str]
) -> dict[str, object]:
    """The container, as keyword arguments of the SDK's `create_container`. Raises as `rootfs.plan`."""
    path = [p for p in sys.path if Path(p).is_absolute() and Path(p).is_dir()]  # our own code comes as CODE
    begin = _IDLE if place.own_uid else "ordinary"  # only root can make it ordinary again
    return {
        "image": settings.image,
        "entrypoint": [sys.executable, "-I", "-c", BOOT, HAND_OVER, ",".join(preload), begin, *path],
        "command": [],
        "environment": _ENVIRONMENT,
        "hostname": "sandbox",
        "user": f"{place.uid}:{place.gid}",
        "working_dir": "/tmp",
        "labels": {OWNER_LABEL: place.owner},
        "host_config": _host_config(settings, place, profile),
    }


def scratch(place: Place, limits: Limits) -> dict[str, object]:
    """The volume that is a container's scratch, as keyword arguments of the SDK's `create_volume`."""
    options = (
        f"size={max(limits.tmpfs_bytes, _EMPTY_BYTES)},nr_inodes={INODES},mode=0700,"
        f"uid={place.uid},gid={place.gid},nosuid,nodev"
    )
    return {
        "name": place.volume,
        "driver": "local",
        "driver_opts": {"type": "tmpfs", "device": "tmpfs", "o": options},
        "labels": {OWNER_LABEL: place.owner},
    }


def _host_config(settings: EngineSettings, place: Place, profile: Profile) -> dict[str, object]:
    limits = profile.limits
    config: dict[str, object] = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": [
            "no-new-privileges",
            f"seccomp={docker_seccomp.profile(syscall_table.machine())}",
        ],
        "CgroupnsMode": "private",
        "IpcMode": "none",
        "Init": False,  # process 1 is our own server, later the runner: only its stop is safe from the inside
        "PidsLimit": limits.processes,
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,
        "OomScoreAdj": _OOM_SCORE,
        "CpusetCpus": ",".join(map(str, profile.cores)),
        "Ulimits": _ulimits(limits),
        "Mounts": _mounts(place, profile),
        "MaskedPaths": sorted({*_MASKED_BY_THE_ENGINE, *tales.told()}),
        "Dns": ["127.0.0.1"],  # else the host's resolvers could be read in /etc/resolv.conf
        "LogConfig": _LOG,
    }
    if profile.devices:
        config["Devices"] = [_device(str(path)) for path in profile.devices]
    if settings.runtime:
        config["Runtime"] = settings.runtime
    if settings.gpus:
        config["DeviceRequests"] = [
            {"Driver": "", "DeviceIDs": list(settings.gpus), "Capabilities": [["gpu"]], "Options": {}}
        ]
    return config


def _ulimits(limits: Limits) -> list[dict[str, object]]:
    values = {"nofile": limits.open_files, "fsize": limits.file_bytes}
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in values.items()]


def _mounts(place: Place, profile: Profile) -> list[_Mount]:
    plan = rootfs.plan(profile, system=False)
    wanted = [
        *(_empty(path) for path in _HIDDEN),
        *(
            _bind("/dev/null", path) for path in _NO_FOLDER if not profile.devices
        ),  # with them comes all of /sys
        *(_scratch(place.volume, target) for target in SCRATCH),
        *(_bind(b.source, b.target) for b in plan.binds),
        *(_masked(path) for path in plan.masked),
        _bind(str(place.folder), HAND_OVER),
    ]
    return list({mount["Target"]: mount for mount in wanted}.values())  # a mask wins over what it hides


def _device(path: str) -> dict[str, object]:
    return {"PathOnHost": path, "PathInContainer": path, "CgroupPermissions": "rw"}


def _scratch(volume: str, target: str) -> _Mount:
    return {"Type": "volume", "Source": volume, "Target": target, "VolumeOptions": {"NoCopy": True}}


def _bind(source: str, target: str) -> _Mount:
    return {
        "Type": "bind",
        "Source": source,
        "Target": target,
        "ReadOnly": True,
        "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
    }


def _empty(target: str) -> _Mount:
    """A read-only folder with nothing in it but what is mounted there."""
    return {
        "Type": "tmpfs",
        "Target": target,
        "ReadOnly": True,
        "TmpfsOptions": {"SizeBytes": _EMPTY_BYTES, "Mode": 0o555},
    }


def _masked(path: str) -> _Mount:
    return _empty(path) if Path(path).is_dir() else _bind("/dev/null", path)
