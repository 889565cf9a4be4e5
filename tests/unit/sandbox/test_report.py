"""What the judge makes of the set-up's report."""

from __future__ import annotations

import os

import pytest

from sandbox.api import EndKind, ExitStatus, SandboxError, SandboxUnavailable
from sandbox.channel import SocketChannel
from sandbox.report import Report, exit_status


def test_a_refused_step_names_itself_and_its_remedy() -> None:
    channel, peer = SocketChannel.pair()
    with peer:
        SocketChannel(peer).send({"step": "user_namespace", "error": "unshare: Operation not permitted"})
        with pytest.raises(SandboxUnavailable, match="user_namespace") as info:
            Report(channel).started(1)
    (missing,) = info.value.missing
    assert missing.name == "user_namespace"
    assert not missing.holds
    assert "max_user_namespaces" in missing.remedy
    channel.close()


def test_a_server_that_dies_meanwhile_is_an_error_and_leaks_nothing() -> None:
    before = len(os.listdir("/proc/self/fd"))
    channel, peer = SocketChannel.pair()
    with peer:
        pidfd = os.pidfd_open(os.posix_spawn("/bin/sleep", ["sleep", "60"], {}))
        SocketChannel(peer).send({"pid": 1, "keeper": 1}, [pidfd])
    with pytest.raises(SandboxError, match="did not start"):
        Report(channel).started(1)
    assert os.waitid(os.P_PIDFD, pidfd, os.WEXITED) is not None
    os.close(pidfd)
    channel.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_wait_statuses_become_values() -> None:
    assert exit_status(3 << 8) == ExitStatus(EndKind.EXITED, 3)
    assert exit_status(11) == ExitStatus(EndKind.SIGNALLED, 11)
