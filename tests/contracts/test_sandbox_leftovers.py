"""Nothing that one evaluation leaves is there for the next."""

from __future__ import annotations

import os

import pytest

from tests.contracts.inside import Spawn, do, refused, value


class TestLeftovers:
    @pytest.mark.parametrize("place", [".", "/tmp", "/dev/shm", "/var/tmp", "/run/lock", "/dev/mqueue"])
    def test_no_file_is_there_for_the_next(self, spawn: Spawn, place: str) -> None:
        first, second = spawn("evaluate"), spawn("evaluate")
        name = f"{place}/kernelwright-left-{os.getpid()}"
        do(first, f"open({name!r}, 'w').write('left')")
        assert refused(second, f"return open({name!r}).read()")
        first.kill()
        assert refused(second, f"return open({name!r}).read()")
        assert refused(spawn("evaluate"), f"return open({name!r}).read()")

    def test_no_file_of_the_judge_was_made(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        name = f"kernelwright-left-{os.getpid()}"
        for place in ("/tmp", "/dev/shm", "/var/tmp", "/run/lock"):
            do(process, f"open('{place}/{name}', 'w').write('left')")
            assert not os.path.exists(f"{place}/{name}")

    @pytest.mark.parametrize("kind", ["shm", "sem", "msg"])
    def test_no_system_v_object_can_be_made_or_used(self, spawn: Spawn, kind: str) -> None:
        process = spawn("evaluate")
        arguments = {"shm": "4096, 0o1666", "sem": "1, 0o1666", "msg": "0o1666"}[kind]
        for key in (0, 77):
            assert refused(process, f"return call('{kind}get', {key}, {arguments})")
        for identity in range(3):
            assert refused(
                process, f"return call('{kind}ctl', {identity}, 2, ctypes.create_string_buffer(256))"
            )

    def test_no_message_queue_can_be_made(self, spawn: Spawn) -> None:
        assert refused(spawn("evaluate"), "return call('mq_open', b'/left', 0o102, 0o600, None)")

    def test_no_key_can_be_kept(self, spawn: Spawn) -> None:
        body = """
            number = {'x86_64': 248}.get(os.uname().machine, 217)
            return call('syscall', number, b'user', b'left', b'data', 4, -4)
            """
        assert refused(spawn("evaluate"), body)

    def test_no_attribute_or_time_of_a_shared_file_can_be_changed(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        shared = value(process, "return os.path.realpath('/bin/sh')")
        before = os.stat(shared)
        for attempt in (
            f"os.utime({shared!r})",
            f"os.utime({shared!r}, (1, 1))",
            f"os.setxattr({shared!r}, 'user.left', b'data')",
            f"os.chmod({shared!r}, 0o777)",
        ):
            assert refused(process, attempt), attempt
        after = os.stat(shared)
        assert (after.st_mtime_ns, after.st_mode) == (before.st_mtime_ns, before.st_mode)

    def test_no_process_is_left(self, spawn: Spawn) -> None:
        first = spawn("outlive_by_double_fork")
        first.channel.receive(20.0)
        first.kill()
        body = "return [n for n in os.listdir('/proc') if n.isdigit() and n != str(os.getpid())]"
        assert do(spawn("evaluate"), body).get("value", []) == []
