"""A sandboxed process has no right, and no call by which it could get one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contracts.inside import Spawn, do, refused, value

NOTHING_WORKED = """
    import ctypes
    worked = []
    for name, arguments in message['calls']:
        try:
            call(name, *[a.encode() if isinstance(a, str) else a for a in arguments])
            worked.append(name)
        except OSError:
            pass
    return worked
    """


class TestPrivileges:
    def test_it_keeps_no_right(self, spawn: Spawn) -> None:
        status = Path(f"/proc/{spawn('hang').pid}/status").read_text()
        assert re.findall(r"^Cap(?:Inh|Prm|Eff|Amb):\s+(\w+)", status, re.MULTILINE) == ["0" * 16] * 4

    def test_no_program_could_bring_it_a_right(self, spawn: Spawn) -> None:
        status = Path(f"/proc/{spawn('hang').pid}/status").read_text()
        assert re.findall(r"^CapBnd:\s+(\w+)", status, re.MULTILINE) == ["0" * 16]

    def test_it_can_gain_none(self, spawn: Spawn) -> None:
        status = Path(f"/proc/{spawn('hang').pid}/status").read_text()
        assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
        assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)

    def test_it_cannot_become_another_user(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        own = value(process, "return os.getresuid()")
        assert len(set(own)) == 1
        for other in {0, 1, own[0] + 1} - {own[0]}:
            assert refused(process, f"os.setresuid({other}, {other}, {other})")
            assert refused(process, f"os.setresgid({other}, {other}, {other})")
        assert refused(process, "os.setgroups([0])")

    def test_it_can_make_no_namespace(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            assert refused(process, f"return call('unshare', {flag})")
            assert refused(
                process,
                f"return call('syscall', {{'x86_64': 56}}.get(os.uname().machine, 220), {flag}, 0, 0, 0, 0)",
            )

    def test_it_can_mount_nothing(self, spawn: Spawn) -> None:
        calls = [
            ("mount", ["none", ".", "tmpfs", 0, 0]),
            ("mount", [".", ".", 0, 4096, 0]),
            ("mount", ["none", "/", "none", 0x40021, 0]),
            ("umount2", ["/proc", 2]),
            ("umount2", ["/", 2]),
            ("chroot", ["."]),
        ]
        assert value(spawn("evaluate"), NOTHING_WORKED, calls=calls) == []

    def test_it_can_load_no_module(self, spawn: Spawn) -> None:
        calls = [
            ("init_module", [0, 0, ""]),
            ("syscall", [313, 0, "", 0]),
            ("delete_module", ["dummy", 0]),
            ("syscall", [246, 0, 0, 0, 0]),
        ]
        assert value(spawn("evaluate"), NOTHING_WORKED, calls=calls) == []

    def test_it_can_make_no_device(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for kind in ("S_IFCHR", "S_IFBLK"):
            assert refused(process, f"import stat; os.mknod('device', 0o600 | stat.{kind}, os.makedev(1, 1))")

    def test_it_reaches_only_harmless_devices(self, spawn: Spawn) -> None:
        body = """
            opened = []
            for folder, _, names in os.walk('/dev'):
                for name in names:
                    try:
                        os.close(os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK))
                        opened.append(name)
                    except OSError:
                        pass
            return opened
            """
        harmless = {"null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr"}
        assert set(value(spawn("evaluate"), body)) <= harmless

    def test_it_cannot_set_the_clock_or_the_host_s_name(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert refused(process, "import time; time.clock_settime(0, time.time())")
        assert refused(process, "socket.sethostname('elsewhere')")

    @pytest.mark.parametrize("name", ["NPROC", "NOFILE", "FSIZE", "CORE", "MSGQUEUE"])
    def test_it_cannot_raise_a_limit(self, spawn: Spawn, name: str) -> None:
        process = spawn("evaluate")
        body = f"import resource; return resource.getrlimit(resource.RLIMIT_{name})"
        if name == "MSGQUEUE":
            body = "import resource; return resource.prlimit(0, 12)"
        soft, hard = value(process, body)
        number = "12" if name == "MSGQUEUE" else f"resource.RLIMIT_{name}"
        assert soft == hard
        raised = f"import resource; resource.prlimit(0, {number}, ({hard} + 1, {hard} + 1))"
        assert "value" not in do(process, raised)
        assert value(process, body) == [soft, hard]

    def test_kernel_interfaces_of_no_use_to_a_kernel_are_closed(self, spawn: Spawn) -> None:
        """io_uring, bpf, userfaultfd, perf, keys, asynchronous I/O: each a way round another promise."""
        names = ["io_uring", "bpf", "userfaultfd", "perf", "add_key", "keyctl", "request_key", "io_setup"]
        body = """
            import platform
            numbers = {
                'x86_64': (425, 321, 323, 298, 248, 250, 249, 206),
                'aarch64': (425, 280, 282, 241, 217, 219, 218, 0),
            }[platform.machine()]
            opened = []
            for name, number in zip(message['names'], numbers):
                room = ctypes.create_string_buffer(256)
                if ctypes.CDLL(None, use_errno=True).syscall(number, 0, room, 64, 0, 0, 0) != -1:
                    opened.append(name)
                elif ctypes.get_errno() not in (1, 38):
                    opened.append(f'{name}: {ctypes.get_errno()}')
            return opened
            """
        assert value(spawn("evaluate"), body, names=names) == []
