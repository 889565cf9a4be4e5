"""The channel: what comes from a sandbox is hostile, what goes in is memory to share."""

from __future__ import annotations

import mmap
import os

import pytest

from sandbox.api import Profile, SandboxProtocolError
from tests.contracts.inside import SECONDS, SMALL, Spawn, value


class TestChannel:
    @pytest.mark.parametrize(
        ("frame", "times", "fds"),
        [
            ("ffffffff", 1, 0),
            ("01000001", 1, 0),
            ("00000001" + b"x".hex(), 1, 0),
            ("00000002" + b"[]".hex(), 1, 0),
            ("00000003" + b"NaN".hex(), 1, 0),
            ("00000009" + b'{"a":NaN}'.hex(), 1, 0),
            ("00000002" + "fffe", 1, 0),
            ("0000000c" + b'{"a":"\\ud800"}'.hex()[:-2], 1, 0),
            ("00030d40" + b"[".hex() * 200_000, 1, 0),
            ("00000002" + b"{}".hex(), 1, 65),
        ],
        ids=["huge", "over", "binary", "list", "nan", "nan inside", "not utf-8", "surrogate", "deep", "fds"],
    )
    def test_what_is_not_a_message_is_refused(self, spawn: Spawn, frame: str, times: int, fds: int) -> None:
        process = spawn("raw", Profile(limits=SMALL))
        process.channel.send({"hex": frame, "times": times, "fds": fds})
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(SandboxProtocolError):
            process.channel.receive(SECONDS)
        assert len(os.listdir("/proc/self/fd")) == before

    def test_half_a_message_is_a_timeout(self, spawn: Spawn) -> None:
        process = spawn("raw")
        process.channel.send({"hex": "0000ff", "times": 1, "fds": 0})
        with pytest.raises(TimeoutError):
            process.channel.receive(0.1)

    def test_memory_can_be_shared(self, spawn: Spawn) -> None:
        fd = os.memfd_create("page")
        os.ftruncate(fd, mmap.PAGESIZE)
        process = spawn("evaluate")
        body = "import mmap; mmap.mmap(fds[0], 4096)[:5] = b'hello'; return len(fds)"
        assert value(process, body, [fd]) == 1
        assert os.pread(fd, 5, 0) == b"hello"
        os.close(fd)
