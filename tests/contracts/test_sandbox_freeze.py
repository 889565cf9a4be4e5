"""Freezing: while it lasts nothing of a sandbox runs, and only the judge can end it."""

from __future__ import annotations

import time

import pytest

from sandbox.api import EndKind
from tests.contracts.inside import SECONDS, Spawn, counter, is_dead, living, moves, refused, stands_still

COUNTING = ["count", "count_in_threads", "count_as_stopped"]
RESISTING = ["sibling_thaws", "dying_child_continues", "fork_while_frozen"]


class TestFreeze:
    @pytest.mark.parametrize("entry", COUNTING + RESISTING)
    def test_a_frozen_process_stands_still_and_goes_on(self, spawn: Spawn, entry: str) -> None:
        process = spawn(entry)
        read = counter(process)
        assert moves(read)
        for _ in range(3):
            process.freeze()
            assert stands_still(read)
            process.thaw()
            assert moves(read)

    @pytest.mark.parametrize("entry", RESISTING)
    def test_a_frozen_process_is_alone(self, spawn: Spawn, entry: str) -> None:
        process = spawn(entry)
        assert moves(counter(process))
        alive = living(process)
        process.freeze()
        assert {p for p in alive() if not is_dead(p)} == {process.pid}

    def test_freezing_twice_is_freezing_once(self, spawn: Spawn) -> None:
        process = spawn("count")
        read = counter(process)
        process.freeze()
        process.freeze()
        assert stands_still(read)
        process.thaw()
        assert moves(read)

    def test_no_timer_can_send_the_signal_that_thaws(self, spawn: Spawn) -> None:
        body = """
            import struct
            event = struct.pack('Qii', 0, 18, 0) + bytes(48)
            identity = ctypes.c_int(0)
            return call('timer_create', 1, event, ctypes.byref(identity))
            """
        assert refused(spawn("evaluate"), body)

    def test_no_descriptor_can_send_the_signal_that_thaws(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert refused(process, "import fcntl; a, b = os.pipe(); fcntl.fcntl(a, 10, 18)")
        assert refused(process, "return call('mq_open', b'/queue', 0o102, 0o600, None)")

    def test_a_frozen_process_can_be_killed(self, spawn: Spawn) -> None:
        process = spawn("count")
        process.channel.receive(SECONDS)
        process.freeze()
        assert process.kill().kind is EndKind.KILLED_BY_US

    def test_waiting_for_a_core_and_page_faults_are_counted(self, spawn: Spawn) -> None:
        process = spawn("count_in_threads")
        read = counter(process)
        before = process.scheduling()
        time.sleep(0.05)
        assert moves(read)
        after = process.scheduling()
        assert after.run_delay_ns > before.run_delay_ns
        assert after.minor_faults >= before.minor_faults > 0
