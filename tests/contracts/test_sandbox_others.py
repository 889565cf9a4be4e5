"""A sandboxed process can neither see, read, signal, trace nor slow any process but its own."""

from __future__ import annotations

import ctypes
import os

import pytest

from sandbox.api import Process
from tests.contracts.inside import Spawn, refused, value

SECRET = ctypes.create_string_buffer(b"what only the judge may know")


def others(spawn: Spawn) -> list[Process]:
    return [spawn("hang"), spawn("pattern")]


def pids(spawn: Spawn) -> list[int]:
    """The judge, and two other sandboxes."""
    return [os.getpid(), *(p.pid for p in others(spawn))]


class TestOthers:
    def test_it_sees_only_its_own_processes(self, spawn: Spawn) -> None:
        spawn("hang")
        body = """
            try:
                seen = [n for n in os.listdir('/proc') if n.isdigit()]
            except OSError:
                seen = []
            return [n for n in seen if n != str(os.getpid())]
            """
        assert value(spawn("evaluate"), body) == []

    def test_it_cannot_find_out_which_processes_exist(self, spawn: Spawn) -> None:
        body = """
            found = []
            for pid in message['pids']:
                for look in (lambda: os.kill(pid, 0), lambda: os.getpgid(pid), lambda: os.getsid(pid)):
                    try:
                        look()
                        found.append(pid)
                    except ProcessLookupError:
                        pass
                    except OSError:
                        found.append(pid)
            return found
            """
        assert value(spawn("evaluate"), body, pids=pids(spawn)) == []

    @pytest.mark.parametrize("name", ["mem", "environ", "maps", "fd", "cwd", "root", "exe", "task", "status"])
    def test_it_cannot_read_another_s_folder_of_proc(self, spawn: Spawn, name: str) -> None:
        process = spawn("evaluate")
        for pid in pids(spawn):
            path = f"/proc/{pid}/{name}"
            assert os.path.lexists(path)
            assert refused(process, f"return os.listdir({path!r})")
            assert refused(process, f"return len(open({path!r}, 'rb').read(1))")

    def test_it_cannot_read_another_s_command_line(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for pid in pids(spawn):
            assert refused(process, f"return open('/proc/{pid}/cmdline').read()")

    def test_it_cannot_read_or_write_another_s_memory(self, spawn: Spawn) -> None:
        body = """
            here = ctypes.create_string_buffer(64)
            vectors = (ctypes.c_void_p * 4)(ctypes.addressof(here), 8, message['address'], 8)
            ours, theirs = ctypes.byref(vectors), ctypes.byref(vectors, 16)
            return call(message['function'], message['pid'], ours, 1, theirs, 1, 0)
            """
        process = spawn("evaluate")
        for function in ("process_vm_readv", "process_vm_writev"):
            for pid in pids(spawn):
                asked = {"function": function, "pid": pid, "address": ctypes.addressof(SECRET)}
                assert refused(process, body, **asked)
        assert SECRET.value == b"what only the judge may know"

    def test_it_cannot_take_another_s_descriptors(self, spawn: Spawn) -> None:
        read, write = os.pipe()
        process = spawn("evaluate")
        assert refused(process, f"return os.open('/proc/{os.getpid()}/fd/{read}', os.O_RDONLY)")
        for pid in pids(spawn):
            assert refused(process, f"return call('syscall', 438, os.pidfd_open({pid}), 1, 0)")
        os.close(read)
        os.close(write)

    def test_it_cannot_signal_others(self, spawn: Spawn) -> None:
        two = others(spawn)
        process = spawn("evaluate")
        parent = value(process, "return os.getppid()")
        parents = [os.getppid()] if os.getppid() else []  # the judge may be process 1 of a container
        for pid in (os.getpid(), *parents, *(p.pid for p in two)):
            assert refused(process, f"os.kill({pid}, 0)")
            assert refused(process, f"os.kill({pid}, signal.SIGCONT)")
            assert refused(process, f"signal.pidfd_send_signal(os.pidfd_open({pid}), signal.SIGCONT)")
        assert parent == 0 or refused(process, f"os.kill({parent}, 0)")
        assert [p.poll() for p in two] == [None, None]

    def test_it_cannot_trace(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert refused(process, "return call('ptrace', 0, 0, 0, 0)")
        for pid in pids(spawn):
            for request in (16, 0x4206):
                assert refused(process, f"return call('ptrace', {request}, {pid}, 0, 0)")

    def test_it_cannot_join_another_s_namespaces(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for pid in pids(spawn):
            assert refused(process, f"return call('setns', os.open('/proc/{pid}/ns/net', 0), 0)")
        assert refused(process, "return call('setns', os.open('/proc/self/ns/net', 0), 0)")

    def test_it_cannot_change_another_s_priority_or_limits(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        before = os.getpriority(os.PRIO_PROCESS, 0)
        for pid in pids(spawn):
            assert refused(process, f"os.setpriority(os.PRIO_PROCESS, {pid}, 19)")
            assert refused(process, f"import resource; resource.prlimit({pid}, resource.RLIMIT_CORE, (0, 0))")
            assert refused(process, f"os.sched_setscheduler({pid}, os.SCHED_IDLE, os.sched_param(0))")
            assert refused(process, f"os.sched_setaffinity({pid}, {{0}})")
        assert refused(process, f"os.setpriority(os.PRIO_USER, {os.getuid()}, 19)")
        assert os.getpriority(os.PRIO_PROCESS, 0) == before

    def test_it_cannot_read_another_s_clock(self, spawn: Spawn) -> None:
        """How much a process has computed is a clock of its own (clock_getcpuclockid)."""
        process = spawn("evaluate")
        for pid in pids(spawn):
            assert refused(process, f"import time; return time.clock_gettime((~{pid} << 3) | 2)")

    @pytest.mark.root
    def test_two_living_sandboxes_never_share_a_uid(self, spawn: Spawn) -> None:
        uids = {os.stat(f"/proc/{spawn('hang').pid}").st_uid for _ in range(4)}
        assert len(uids) == 4
        assert uids.isdisjoint({0, os.getuid()})
