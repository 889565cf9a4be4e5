"""The seccomp program, run by a small interpreter of the instructions it uses, for every machine."""

from __future__ import annotations

import errno
import struct

import pytest

from sandbox import seccomp, seccomp_rules, syscall_table

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
KILL = 0x80000000
ALLOW = 0x7FFF0000


def decide(
    machine: str,
    number: int,
    arguments: tuple[int, ...] = (),
    arch: int | None = None,
    also_denied: tuple[str, ...] = (),
) -> int:
    """What the kernel would do with this call."""
    padded = (*arguments, *([0] * (6 - len(arguments))))
    data = struct.pack("<IIQ6Q", number, ARCH[machine] if arch is None else arch, 0, *padded)
    program = list(struct.iter_unpack("HBBI", seccomp.program(machine, also_denied)))
    accumulator = at = 0
    while True:
        code, jt, jf, k = program[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            accumulator &= k
        elif code == 0x06:
            return int(k)
        else:
            taken = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            at += jt if taken else jf


def fails_with(code: int) -> int:
    return 0x00050000 | code


def call(machine: str, name: str, *arguments: int) -> int:
    number = syscall_table.number(name, machine)
    assert number is not None
    return decide(machine, number, arguments)


MACHINES = pytest.mark.parametrize("machine", syscall_table.MACHINES)


@MACHINES
def test_denied_calls_fail(machine: str) -> None:
    for name in seccomp_rules.DENIED:
        number = syscall_table.number(name, machine)
        if number is not None:
            assert decide(machine, number) == fails_with(errno.EPERM), name


@MACHINES
def test_reading_writing_and_waiting_are_allowed(machine: str) -> None:
    allowed = {"x86_64": (0, 1, 9, 59, 61, 202, 231), "aarch64": (63, 64, 98, 93, 221, 222, 260)}
    assert [decide(machine, n) for n in allowed[machine]] == [ALLOW] * 7


@MACHINES
def test_a_foreign_architecture_kills(machine: str) -> None:
    assert decide(machine, 1, arch=0x40000003) == KILL


def test_x32_calls_kill() -> None:
    assert decide("x86_64", 0x40000000 + 1) == KILL


@MACHINES
def test_clone_makes_threads_and_processes_but_no_namespaces(machine: str) -> None:
    assert call(machine, "clone", 0x003D0F00) == ALLOW
    assert call(machine, "clone", 17) == ALLOW
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert call(machine, "clone", flag | 17) == fails_with(errno.EPERM)
    assert call(machine, "clone3") == fails_with(errno.ENOSYS)


@MACHINES
def test_memory_stays_readable_and_the_tie_to_the_parent_holds(machine: str) -> None:
    assert call(machine, "prctl", 4, 0) == fails_with(errno.EPERM)
    assert call(machine, "prctl", 4 | 1 << 32, 0) == fails_with(errno.EPERM)
    assert call(machine, "prctl", 1, 0) == fails_with(0)
    assert call(machine, "prctl", 15) == ALLOW


@MACHINES
def test_arguments_that_break_a_promise_are_refused(machine: str) -> None:
    refused = fails_with(errno.EPERM)
    assert call(machine, "fcntl", 5, 10, 18) == refused
    assert call(machine, "fcntl", 5, 2, 1) == ALLOW
    assert call(machine, "ioctl", 0, 0x5412) == refused
    assert call(machine, "ioctl", 0, 0x5401) == ALLOW
    assert call(machine, "sendto", 3, 1, 1, 0, 0x1000, 16) == refused
    assert call(machine, "sendto", 3, 1, 1, 0, 1 << 40, 16) == refused
    assert call(machine, "sendto", 3, 1, 1, 0, 0, 0) == ALLOW
    assert call(machine, "socketpair", 1, 1 | 0o2000000) == ALLOW
    assert call(machine, "socketpair", 1, 5) == ALLOW
    assert call(machine, "socketpair", 1, 2) == refused
    assert call(machine, "socketpair", 2, 1) == refused


@MACHINES
def test_the_clocks_of_others_are_refused(machine: str) -> None:
    for name in ("clock_gettime", "clock_nanosleep", "timerfd_create"):
        assert call(machine, name, 1) == ALLOW
        assert call(machine, name, (~1234 << 3 | 2) & 0xFFFFFFFF) == fails_with(errno.EPERM)


@MACHINES
def test_priorities_and_limits_are_the_caller_s_alone(machine: str) -> None:
    for name in ("prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        assert call(machine, name, 0) == ALLOW
        assert call(machine, name, 1234) == fails_with(errno.EPERM)
    assert call(machine, "setpriority", 0, 0, 5) == ALLOW
    assert call(machine, "setpriority", 0, 1234, 5) == fails_with(errno.EPERM)
    assert call(machine, "setpriority", 2, 0, 5) == fails_with(errno.EPERM)


@MACHINES
def test_further_calls_can_be_denied(machine: str) -> None:
    number = syscall_table.number("fchmod", machine)
    assert number is not None
    assert decide(machine, number) == ALLOW
    assert decide(machine, number, also_denied=seccomp_rules.OWNERS_CALLS) == fails_with(errno.EPERM)
