"""What the engine says of a container's end."""

from __future__ import annotations

import signal

import pytest

from sandbox.api import EndKind, ExitStatus
from sandbox.docker_engine import Ended
from sandbox.report import exit_status


@pytest.mark.parametrize("code", [0, 1, 127, 128, 200, 255])
def test_an_exit_code_stays_one(code: int) -> None:
    assert exit_status(Ended(code, False).wait_status) == ExitStatus(EndKind.EXITED, code)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL, signal.SIGSEGV, signal.SIGRTMAX])
def test_a_signal_is_told_by_a_code_above_128(number: int) -> None:
    assert exit_status(Ended(128 + number, False).wait_status) == ExitStatus(EndKind.SIGNALLED, number)
