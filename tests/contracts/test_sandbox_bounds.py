"""What a sandboxed process may use up."""

from __future__ import annotations

import os
import time

import pytest

from sandbox.api import EndKind, ExitStatus, Limits, Profile
from tests.contracts.inside import SECONDS, SMALL, Spawn, ended, living, refused, value

SLACK = 1 << 20  # what a file system keeps for itself


class TestBounds:
    def test_a_flood_of_output_is_cut(self, spawn: Spawn) -> None:
        process = spawn("flood")
        for _ in range(2):
            process.channel.receive(SECONDS)
        text, full = process.output()
        assert full
        assert len(text) == SMALL.output_bytes
        process.kill()
        assert process.output() == (text, True)

    def test_a_fork_bomb_is_bounded(self, spawn: Spawn) -> None:
        process = spawn("fork_bomb")
        process.channel.receive(SECONDS)
        alive = living(process)
        time.sleep(0.2)
        assert 1 < len(alive()) <= SMALL.processes

    def test_a_fork_bomb_dies(self, spawn: Spawn) -> None:
        process = spawn("fork_bomb")
        process.channel.receive(SECONDS)
        alive = living(process)
        assert process.kill().kind is EndKind.KILLED_BY_US
        assert alive() == set()

    def test_threads_are_bounded(self, spawn: Spawn) -> None:
        body = """
            import threading, time
            for number in range(message['most']):
                try:
                    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
                except RuntimeError:
                    break
            return threading.active_count()
            """
        started = value(spawn("evaluate"), body, most=2 * SMALL.processes)
        assert SMALL.processes // 2 <= started <= SMALL.processes

    @pytest.mark.parametrize("entry", ["memory_bomb", "memory_bomb_in_child"])
    def test_a_memory_bomb_is_named_so(self, spawn: Spawn, entry: str) -> None:
        process = spawn(entry, Profile(limits=Limits(memory_bytes=128 << 20)))
        process.channel.receive(SECONDS)
        if entry == "memory_bomb_in_child":
            process.channel.send({"go": True})
        assert ended(process).kind is EndKind.OUT_OF_MEMORY

    def test_a_memory_bomb_is_bounded_in_one_process(self, spawn: Spawn) -> None:
        process = spawn("memory_bomb", Profile(limits=Limits(memory_bytes=256 << 20)))
        process.channel.receive(SECONDS)
        assert ended(process) != ExitStatus(EndKind.EXITED, 0)

    def test_open_files_are_bounded(self, spawn: Spawn) -> None:
        body = "return len([os.open('/dev/null', 0) for _ in range(message['number'])])"
        profile = Profile(limits=Limits(open_files=64))
        assert value(spawn("evaluate", profile), body, number=50) == 50
        assert refused(spawn("evaluate", profile), body, number=64)

    def test_one_file_is_bounded(self, spawn: Spawn) -> None:
        process = spawn("evaluate", Profile(limits=Limits(tmpfs_bytes=8 << 20, file_bytes=1 << 20)))
        body = """
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            with open('file', 'wb', buffering=0) as file:
                file.write(b'x' * (1 << 20))
                file.write(b'x')
            """
        assert refused(process, body)
        assert value(process, "return os.path.getsize('file')") == 1 << 20

    def test_its_scratch_holds_exactly_what_it_may(self, spawn: Spawn) -> None:
        body = """
            written = 0
            for place in ('a', '/dev/shm/b'):
                try:
                    with open(place, 'wb', buffering=0) as file:
                        while written < message['most']:
                            written += file.write(b'x' * 65536)
                except OSError:
                    pass
            return written
            """
        written = value(spawn("evaluate"), body, most=4 * SMALL.tmpfs_bytes)
        assert SMALL.tmpfs_bytes - SLACK <= written <= SMALL.tmpfs_bytes

    def test_the_number_of_its_files_is_bounded(self, spawn: Spawn) -> None:
        body = """
            for number in range(message['most']):
                try:
                    os.close(os.open(f'{number}', os.O_CREAT | os.O_WRONLY))
                except OSError:
                    return number
            return message['most']
            """
        most = 70_000
        assert value(spawn("evaluate"), body, most=most) < most

    def test_its_cores_are_fixed(self, spawn: Spawn) -> None:
        core = min(os.sched_getaffinity(0))
        process = spawn("evaluate", Profile(cores=(core,), limits=SMALL))
        assert value(process, "return list(os.sched_getaffinity(0))") == [core]
        assert refused(process, "os.sched_setaffinity(0, range(os.cpu_count()))")

    def test_it_cannot_take_precedence(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert refused(process, "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))")
        assert refused(process, "os.setpriority(os.PRIO_PROCESS, 0, -5)")

    def test_its_processor_time_is_bounded(self, spawn: Spawn) -> None:
        process = spawn("count", Profile(limits=Limits(cpu_seconds=1)))
        process.channel.receive(SECONDS)
        assert ended(process).kind is EndKind.SIGNALLED
