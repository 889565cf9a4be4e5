"""How a sandboxed process ends, what is said of it, and that nothing of it stays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.api import EndKind, ExitStatus, ProcessGone
from tests.contracts.inside import CHECKOUT, SECONDS, Spawn, ended, is_dead, living, soon

OUTLIVING = ["by_child", "by_session", "by_double_fork", "by_pipe"]


class TestEnds:
    @pytest.mark.parametrize("code", [0, 3])
    def test_an_exit_code_is_reported(self, spawn: Spawn, code: int) -> None:
        process = spawn("leave")
        process.channel.send({"code": code})
        assert ended(process) == ExitStatus(EndKind.EXITED, code)
        assert process.kill() == ExitStatus(EndKind.EXITED, code)

    def test_sys_exit_is_an_exit_code(self, spawn: Spawn) -> None:
        assert ended(spawn("leave_by_exit")) == ExitStatus(EndKind.EXITED, 5)

    def test_an_exception_ends_it_with_its_traceback_in_the_output(self, spawn: Spawn) -> None:
        process = spawn("fail")
        assert ended(process) == ExitStatus(EndKind.EXITED, 1)
        assert b"RuntimeError: no luck today" in process.output()[0]

    def test_a_signal_is_reported(self, spawn: Spawn) -> None:
        assert ended(spawn("segfault")) == ExitStatus(EndKind.SIGNALLED, signal.SIGSEGV)

    def test_a_hang_is_a_timeout_and_can_be_killed(self, spawn: Spawn) -> None:
        process = spawn("hang")
        with pytest.raises(TimeoutError):
            process.channel.receive(0.05)
        assert process.poll() is None
        assert process.kill() == ExitStatus(EndKind.KILLED_BY_US, signal.SIGKILL)
        assert process.kill() == ExitStatus(EndKind.KILLED_BY_US, signal.SIGKILL)

    def test_the_channel_of_a_dead_process_ends(self, spawn: Spawn) -> None:
        process = spawn("segfault")
        with pytest.raises(EOFError):
            process.channel.receive(SECONDS)

    @pytest.mark.parametrize("way", OUTLIVING)
    def test_nothing_outlives_its_first_process(self, spawn: Spawn, way: str) -> None:
        process = spawn(f"outlive_{way}")
        alive = living(process)
        process.channel.receive(SECONDS)
        assert len(alive()) == 2
        process.channel.send({"go": True})
        assert ended(process) == ExitStatus(EndKind.EXITED, 0)
        assert alive() == set()

    @pytest.mark.parametrize("way", OUTLIVING)
    def test_nothing_outlives_a_kill(self, spawn: Spawn, way: str) -> None:
        process = spawn(f"outlive_{way}")
        alive = living(process)
        process.channel.receive(SECONDS)
        assert len(alive()) == 2
        process.kill()
        assert alive() == set()

    def test_what_is_asked_of_the_dead_raises(self, spawn: Spawn) -> None:
        process = spawn("leave_by_exit")
        ended(process)
        gone = ExitStatus(EndKind.EXITED, 5)
        for question in (
            process.freeze,
            process.thaw,
            process.scheduling,
            lambda: process.read_memory([(4096, 8)]),
            lambda: process.read_memory_into(4096, memoryview(bytearray(8))),
        ):
            with pytest.raises(ProcessGone) as info:
                question()
            assert info.value.status == gone
        process.kill()
        with pytest.raises(ProcessGone):
            process.freeze()

    @pytest.mark.slow
    def test_everything_dies_with_the_judge(self, request: pytest.FixtureRequest, spawn: Spawn) -> None:
        assert spawn("hang").poll() is None
        judge = subprocess.Popen(
            [sys.executable, "-c", JUDGE, request.node.callspec.params["backend"]],
            stdout=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        with judge:
            assert judge.stdout is not None
            pids = [int(word) for word in judge.stdout.readline().split()]
            assert len(pids) == 3
            lifetimes = [os.pidfd_open(pid) for pid in pids]
            judge.kill()
        for fd in lifetimes:
            soon(lambda fd=fd: _has_ended(fd), "it outlived the judge")  # type: ignore[misc]
            os.close(fd)


JUDGE = """
import sys, time
from sandbox.api import Profile
from tests.contracts.backends import BACKENDS
from tests.contracts.conftest import preloaded
sandbox = BACKENDS[sys.argv[1]].make()
zygote = preloaded(sandbox, "sandbox_entries")
entries = ("count", "count", "outlive_by_session")
running, frozen, parent = (zygote.spawn(f"sandbox_entries:{entry}", Profile()) for entry in entries)
frozen.freeze()
parent.channel.receive(20)
print(running.pid, frozen.pid, parent.pid, flush=True)
time.sleep(3600)
"""


def _has_ended(pidfd: int) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except ProcessLookupError:
        return True
    found = re.findall(r"^Pid:\s+(\d+)", Path(f"/proc/self/fdinfo/{pidfd}").read_text(), re.MULTILINE)
    return not found or is_dead(int(found[0]))
