"""The profile for the engine decides as the kernel program does, but for what process 1 needs at its start."""

from __future__ import annotations

import errno
import json
import struct
from functools import cache
from typing import Any

import pytest

from sandbox import docker_seccomp, seccomp, seccomp_rules, syscall_table

MACHINES = pytest.mark.parametrize("machine", syscall_table.MACHINES)
WORDS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    10,
    15,
    17,
    4096,
    0x5412,
    0x541C,
    0x10000000,
    0x7E020000,
    0x80001,
    0x80005,
    1 << 31,
)


def holds(condition: dict[str, Any], arguments: list[int]) -> bool:
    value = arguments[condition["index"]]
    if condition["op"] == "SCMP_CMP_NE":
        return bool(value != condition["value"])
    assert condition["op"] == "SCMP_CMP_MASKED_EQ"
    return bool(value & condition["value"] == condition["valueTwo"])


def engine_decides(profile: dict[str, Any], name: str, arguments: list[int]) -> int | None:
    """The error of a call, None where it is allowed."""
    for entry in profile["syscalls"]:
        if name in entry["names"] and all(holds(c, arguments) for c in entry.get("args", [])):
            return int(entry["errnoRet"])
    return None


@cache
def program(machine: str) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("HBBI", seccomp.program(machine)))


def kernel_decides(machine: str, name: str, arguments: list[int]) -> int | None:
    number = syscall_table.number(name, machine)
    arch = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments)
    accumulator = at = 0
    while True:
        code, jt, jf, k = program(machine)[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            accumulator &= k
        elif code == 0x06:
            return None if k == 0x7FFF0000 else k & 0xFFFF
        else:
            taken = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            at += jt if taken else jf


@MACHINES
def test_it_decides_as_the_kernel_s_filter_does(machine: str) -> None:
    profile = json.loads(docker_seccomp.profile(machine))
    names = {*seccomp_rules.DENIED, *seccomp_rules.UNKNOWN, *(r.call for r in seccomp_rules.RULES)}
    for name in names - docker_seccomp.NEEDED_AT_START:
        if syscall_table.number(name, machine) is None:
            continue
        for index in range(5):
            for word in (*WORDS, 1 << 32):
                arguments = [1] * 6 if name == "socketpair" else [0] * 6
                arguments[index] = word
                assert engine_decides(profile, name, arguments) == kernel_decides(machine, name, arguments), (
                    name,
                    arguments,
                )


@MACHINES
def test_process_1_can_reach_the_judge(machine: str) -> None:
    profile = json.loads(docker_seccomp.profile(machine))
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    for name in (*docker_seccomp.NEEDED_AT_START, "seccomp", "landlock_restrict_self"):
        assert engine_decides(profile, name, [0] * 6) is None


def test_io_uring_is_closed() -> None:
    profile = json.loads(docker_seccomp.profile("x86_64"))
    assert engine_decides(profile, "io_uring_setup", [0] * 6) == errno.EPERM
