"""What every sandbox backend must do to a cold process (`Sandbox.run`)."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from sandbox.api import Command, Completed, EndKind, ExitStatus, Limits, Profile, Sandbox

SECONDS = 20.0
SMALL = Profile(
    limits=Limits(memory_bytes=1 << 30, processes=32, tmpfs_bytes=16 << 20, output_bytes=64 << 10)
)
SUCCESS = ExitStatus(EndKind.EXITED, 0)


def shell(
    backend: Sandbox, script: str, timeout: float = SECONDS, collect: tuple[str, ...] = ()
) -> Completed:
    return backend.run(Command(("/bin/sh", "-c", script), collect=collect), SMALL, timeout)


def test_output_and_errors_come_together(backend: Sandbox) -> None:
    completed = shell(backend, "echo out; echo err >&2")
    assert completed.status == SUCCESS
    assert completed.output == b"out\nerr\n"
    assert not completed.output_truncated
    assert not completed.timed_out
    assert 0 < completed.wall_seconds < SECONDS


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("exit 7", ExitStatus(EndKind.EXITED, 7)),
        ("kill -SEGV $$", ExitStatus(EndKind.SIGNALLED, signal.SIGSEGV)),
        ("kill -KILL $$", ExitStatus(EndKind.SIGNALLED, signal.SIGKILL)),
    ],
)
def test_its_end_is_reported(backend: Sandbox, script: str, status: ExitStatus) -> None:
    assert shell(backend, script).status == status


def test_a_program_that_is_not_there_is_a_failed_command(backend: Sandbox) -> None:
    completed = backend.run(Command(("no-such-program",)), SMALL, SECONDS)
    assert completed.status == ExitStatus(EndKind.EXITED, 127)
    assert b"no-such-program" in completed.output


def test_files_go_in_and_come_back(backend: Sandbox) -> None:
    files = {"input": b"\x00\x01" * 100_000, "folder/script": b"#!/bin/sh\ncat input input > result\n"}
    completed = backend.run(Command(("folder/script",), files, ("result", "absent")), SMALL, SECONDS)
    assert completed.files == {"result": b"\x00\x01" * 200_000}


def test_only_regular_files_within_the_bound_come_back(backend: Sandbox) -> None:
    script = "ln -s /etc/passwd link; mkfifo pipe; mkdir folder; head -c 3000 /dev/zero > big; echo a > small"
    names = ("link", "pipe", "folder", "big", "small")
    command = Command(("/bin/sh", "-c", script), collect=names, collect_bytes=2000)
    assert backend.run(command, SMALL, SECONDS).files == {"small": b"a\n"}


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../b", "", "."])
def test_a_name_that_leads_out_is_refused(backend: Sandbox, name: str) -> None:
    with pytest.raises(ValueError, match="relative name"):
        backend.run(Command(("true",), {name: b""}), SMALL, SECONDS)
    with pytest.raises(ValueError, match="relative name"):
        backend.run(Command(("true",), collect=(name,)), SMALL, SECONDS)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 3600",
        "setsid sleep 3600 & wait",
        "(setsid sh -c 'sleep 3600 & sleep 3600' &) ; trap '' TERM INT; while :; do :; done",
    ],
)
def test_a_hang_ends_with_the_timeout(backend: Sandbox, script: str) -> None:
    begun = time.monotonic()
    completed = shell(backend, f"echo begun; {script}", timeout=0.3)
    assert completed.timed_out
    assert completed.status == ExitStatus(EndKind.KILLED_BY_US, signal.SIGKILL)
    assert completed.output == b"begun\n"
    assert 0.3 <= time.monotonic() - begun < SECONDS


def test_a_grandchild_that_holds_the_output_delays_nothing(backend: Sandbox) -> None:
    completed = shell(
        backend, "setsid sleep 3600 & (setsid sh -c 'sleep 3600' &); echo done", timeout=SECONDS
    )
    assert completed.status == SUCCESS
    assert not completed.timed_out
    assert completed.wall_seconds < SECONDS / 2


def test_endless_output_is_cut(backend: Sandbox) -> None:
    completed = shell(backend, "yes", timeout=SECONDS)
    assert completed.output_truncated
    assert len(completed.output) == SMALL.limits.output_bytes


def test_it_is_as_isolated_as_a_warm_process(backend: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    script = f"cat {tmp_path}/secret /etc/shadow; ls /proc | grep -c '^[0-9]'; env; touch /usr/x; ls /var"
    output = shell(backend, script).output.decode()
    assert "hunter2" not in output
    assert "root:" not in output
    environment = [line for line in output.splitlines() if "=" in line]
    of_the_shell = ("PWD", "_", "SHLVL", "OLDPWD")
    names = {line.split("=")[0] for line in environment if not line.startswith(of_the_shell)}
    assert names == {"HOME", "PATH", "TMPDIR"}
    assert "touch: " in output


def test_a_command_that_takes_all_memory_is_named_so(backend: Sandbox) -> None:
    hungry = "b = []\nwhile True: b.append(bytearray(8 << 20))"
    profile = Profile(limits=Limits(memory_bytes=96 << 20))
    completed = backend.run(Command((sys.executable, "-c", hungry)), profile, SECONDS)
    assert completed.status.kind is EndKind.OUT_OF_MEMORY
    assert not completed.timed_out


def test_python_starts_with_its_packages(backend: Sandbox) -> None:
    pytest.importorskip("numpy")
    environment = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p.endswith("site-packages"))}
    profile = Profile(environment={**environment, "OPENBLAS_NUM_THREADS": "1"}, limits=SMALL.limits)
    completed = backend.run(
        Command((sys.executable, "-c", "import numpy; print(numpy.ones(3).sum())")), profile, SECONDS
    )
    assert completed.output == b"3.0\n"


@pytest.mark.slow
def test_a_compiler_works(backend: Sandbox) -> None:
    if not Path("/usr/bin/g++").exists():
        pytest.skip("g++ is not installed")
    source = b"#include <iostream>\nint main() { std::cout << 6 * 7 << std::endl; }\n"
    command = Command(
        ("/bin/sh", "-c", "g++ -O1 -o program main.cpp && ./program"), {"main.cpp": source}, ("program",)
    )
    completed = backend.run(command, Profile(), 60.0)
    assert (completed.status, completed.output) == (SUCCESS, b"42\n")
    assert completed.files["program"].startswith(b"\x7fELF")


def test_commands_leave_nothing(backend: Sandbox) -> None:
    shell(backend, "true")
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(10):
        shell(backend, "setsid sleep 3600 & echo x > file", collect=("file",))
    assert sorted(os.listdir("/proc/self/fd")) == before
    groups = list(Path("/sys/fs/cgroup").rglob(f"kernelwright-{os.getpid()}-*"))
    assert [g for g in groups if g.is_dir()] == []
