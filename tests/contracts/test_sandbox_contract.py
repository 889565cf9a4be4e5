"""What every sandbox backend must do to a warm process. Run against each backend that this host allows."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox.api import (
    EndKind,
    ExitStatus,
    Limits,
    MemoryUnreadable,
    Process,
    ProcessGone,
    Profile,
    Sandbox,
    SandboxError,
    SandboxProtocolError,
    Zygote,
)

Spawn = Callable[..., Process]
SECONDS = 20.0
CHECKOUT = Path(__file__).resolve().parents[2]
SMALL = Limits(memory_bytes=1 << 30, processes=32, tmpfs_bytes=16 << 20, output_bytes=64 << 10)


def do(process: Process, body: str, fds: Sequence[int] = (), **message: object) -> dict[str, Any]:
    """Run `body`, the body of f(message, fds), inside; its answer."""
    code = "import os, socket, signal\ndef f(message, fds):\n" + textwrap.indent(
        textwrap.dedent(body), "    "
    )
    process.channel.send({"code": code, **message}, fds)
    answer, _ = process.channel.receive(SECONDS)
    return answer


def value(process: Process, body: str, fds: Sequence[int] = (), **message: object) -> Any:
    answer = do(process, body, fds, **message)
    assert "value" in answer, answer
    return answer["value"]


def refused(process: Process, body: str) -> bool:
    return "error" in do(process, body)


def ended(process: Process) -> ExitStatus:
    """Wait until it has ended by itself."""
    deadline = time.monotonic() + SECONDS
    while (status := process.poll()) is None:
        assert time.monotonic() < deadline, "it does not end"
        time.sleep(0.005)
    return status


def namespace_members(pid_namespace: str) -> list[str]:
    members = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/ns/pid") == pid_namespace:
                members.append(name)
    return members


def counter(process: Process) -> Callable[[], int]:
    message, _ = process.channel.receive(SECONDS)
    address = int(str(message["address"]))
    return lambda: int.from_bytes(process.read_memory([(address, 8)]), "little")


def stands_still(read: Callable[[], int]) -> bool:
    first = read()
    time.sleep(0.05)
    return read() == first


def moves(read: Callable[[], int]) -> bool:
    first = read()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if read() != first:
            return True
        time.sleep(0.001)
    return False


class TestNetwork:
    def test_no_socket_of_any_family(self, spawn: Spawn) -> None:
        opened = value(
            spawn("evaluate"),
            """
            opened = []
            for family in range(64):
                for kind in (1, 2, 3, 5):
                    try:
                        socket.socket(family, kind)
                        opened.append(family)
                    except OSError:
                        pass
            return opened
            """,
        )
        assert opened == []

    def test_no_name_resolves(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert refused(process, "return socket.getaddrinfo('example.org', 80)")

    def test_a_socketpair_works_but_reaches_nobody_else(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert (
            value(process, "a, b = socket.socketpair(); a.send(b'hello'); return b.recv(9).decode()")
            == "hello"
        )
        assert refused(process, "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)")
        assert refused(process, "socket.socketpair()[0].bind('/tmp/s')")
        assert refused(process, "socket.socketpair()[0].connect('/tmp/s')")


class TestOthers:
    def test_it_sees_only_its_own_processes(self, spawn: Spawn) -> None:
        spawn("hang")
        assert value(spawn("evaluate"), "return [n for n in os.listdir('/proc') if n.isdigit()]") == ["1"]

    def test_it_cannot_signal_the_judge_or_another_sandbox(self, spawn: Spawn) -> None:
        other = spawn("hang")
        process = spawn("evaluate")
        for pid in (os.getpid(), other.pid):
            assert refused(process, f"os.kill({pid}, 0)")
        assert other.poll() is None

    def test_it_cannot_trace_or_join_others(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for call in (
            "os.setns(os.open('/proc/self/ns/net', 0)) if hasattr(os, 'setns') else 1/0",
            "import ctypes; n = ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0); 1 / (n + 1)",
            "import ctypes; n = ctypes.CDLL(None, use_errno=True).unshare(0x10000000); 1 / (n + 1)",
        ):
            assert refused(process, call)

    @pytest.mark.root
    def test_two_living_sandboxes_never_share_a_uid(self, spawn: Spawn) -> None:
        uids = {os.stat(f"/proc/{spawn('hang').pid}").st_uid for _ in range(4)}
        assert len(uids) == 4
        assert uids.isdisjoint({0, os.getuid()})

    def test_it_keeps_no_right(self, spawn: Spawn) -> None:
        status = Path(f"/proc/{spawn('hang').pid}/status").read_text()
        assert re.findall(r"^Cap\w+:\s+(\w+)", status, re.MULTILINE) == ["0" * 16] * 5
        assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
        assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)


class TestWhatIsInherited:
    def test_the_environment_is_the_profile_s(self, spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "hunter2")
        process = spawn("evaluate", Profile(environment={"COLOUR": "green"}, limits=SMALL))
        assert value(process, "return dict(os.environ)") == {
            "COLOUR": "green",
            "HOME": "/tmp",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }
        assert "hunter2" not in value(process, "return open('/proc/self/environ').read()")

    def test_only_the_channel_is_open(self, spawn: Spawn) -> None:
        code = "return sorted(int(n) for n in os.listdir('/proc/self/fd') if os.path.lexists(f'/proc/self/fd/{n}'))"
        assert value(spawn("evaluate"), code) == [0, 1, 2, 3]

    def test_an_executed_program_gets_no_channel(self, spawn: Spawn) -> None:
        body = """
            import subprocess
            command = ['ls', '-l', '/proc/self/fd']
            return subprocess.run(command, capture_output=True, text=True, close_fds=False).stdout
            """
        assert "socket:" not in value(spawn("evaluate"), body)

    def test_it_works_in_tmp(self, spawn: Spawn) -> None:
        assert value(spawn("evaluate"), "return os.getcwd()") == "/tmp"


class TestFiles:
    def test_host_files_are_not_there(self, spawn: Spawn, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("hunter2")
        process = spawn("evaluate")
        for path in (
            secret,
            CHECKOUT / "pyproject.toml",
            CHECKOUT / "sandbox" / "api.py",
            Path("/etc/shadow"),
        ):
            assert refused(process, f"open({str(path)!r}).read()"), path

    def test_a_readable_path_is_there_and_read_only(self, spawn: Spawn, tmp_path: Path) -> None:
        (tmp_path / "shown").mkdir()
        (tmp_path / "shown" / "file").write_text("data")
        tmp_path.chmod(0o755)
        process = spawn("evaluate", Profile(readable=(tmp_path / "shown",), limits=SMALL))
        assert value(process, f"return open('{tmp_path}/shown/file').read()") == "data"
        assert refused(process, f"open('{tmp_path}/shown/file', 'w')")
        assert refused(process, f"open('{tmp_path}/shown/other', 'w')")
        assert (tmp_path / "shown" / "file").read_text() == "data"

    def test_a_masked_path_is_empty(self, spawn: Spawn, tmp_path: Path) -> None:
        for name in ("open/seen", "open/hidden/deep", "open/file"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("data")
        shown = tmp_path / "open"
        process = spawn("evaluate", Profile((shown,), (shown / "hidden", shown / "file"), limits=SMALL))
        assert value(process, f"return open('{shown}/seen').read()") == "data"
        assert value(process, f"return os.listdir('{shown}/hidden')") == []
        assert value(process, f"return open('{shown}/file').read()") == ""

    def test_our_own_code_is_not_there(self, spawn: Spawn) -> None:
        process = spawn("evaluate", Profile(readable=(CHECKOUT / "sandbox",), limits=SMALL))
        assert value(process, f"return os.listdir({str(CHECKOUT / 'sandbox')!r})") == []

    def test_it_writes_only_to_its_scratch(self, spawn: Spawn) -> None:
        body = """
            import sys
            made = []
            for top in ('/', sys.prefix, sys.base_prefix):
                for folder, names, _ in os.walk(top):
                    if folder == '/':
                        names[:] = [n for n in names if n not in ('proc', 'usr')]
                    try:
                        os.close(os.open(folder + '/.trial', os.O_CREAT | os.O_WRONLY))
                        made.append(folder)
                    except OSError:
                        pass
                    names[:] = names[:20]
            return sorted(set(made))
            """
        assert value(spawn("evaluate"), body) == ["/dev/shm", "/tmp"]

    def test_scratch_is_bounded_and_private(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        body = """
            written = 0
            for place in ('/tmp/a', '/dev/shm/b'):
                with open(place, 'wb', buffering=0) as file:
                    try:
                        while True:
                            written += file.write(b'x' * 65536)
                    except OSError:
                        pass
            return written
            """
        assert 0 < value(process, body) <= SMALL.tmpfs_bytes
        assert value(spawn("evaluate"), "return os.listdir('/tmp')") == []

    def test_a_readable_path_that_is_missing_is_an_error(self, spawn: Spawn, tmp_path: Path) -> None:
        with pytest.raises(SandboxError, match="does not exist"):
            spawn("hang", Profile(readable=(tmp_path / "nothing",)))


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

    def test_a_fork_bomb_is_bounded_and_dies(self, spawn: Spawn) -> None:
        process = spawn("fork_bomb")
        process.channel.receive(SECONDS)
        namespace = os.readlink(f"/proc/{process.pid}/ns/pid")
        time.sleep(0.2)
        assert len(namespace_members(namespace)) <= SMALL.processes
        assert process.kill().kind is EndKind.KILLED_BY_US
        assert namespace_members(namespace) == []

    @pytest.mark.usefixtures("needs_memory_limit")
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
        process = spawn("evaluate", Profile(limits=Limits(open_files=64)))
        assert refused(process, "return [os.open('/dev/null', 0) for _ in range(65)]")

    def test_its_cores_are_fixed(self, spawn: Spawn) -> None:
        core = min(os.sched_getaffinity(0))
        process = spawn("evaluate", Profile(cores=(core,), limits=SMALL))
        assert value(process, "return list(os.sched_getaffinity(0))") == [core]
        assert refused(process, "os.sched_setaffinity(0, range(os.cpu_count()))")


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

    def test_nothing_outlives_process_1(self, spawn: Spawn) -> None:
        process = spawn("outlive")
        namespace = os.readlink(f"/proc/{process.pid}/ns/pid")
        process.channel.receive(SECONDS)
        assert len(namespace_members(namespace)) == 2
        process.channel.send({"go": True})
        ended(process)
        assert namespace_members(namespace) == []

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
    def test_everything_dies_with_the_judge(self) -> None:
        judge = subprocess.Popen(
            [sys.executable, "-c", JUDGE],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        with judge:
            assert judge.stdout is not None
            pids = [int(word) for word in judge.stdout.readline().split()]
            lifetimes = [os.pidfd_open(pid) for pid in pids]
            judge.kill()
        deadline = time.monotonic() + SECONDS
        for fd in lifetimes:
            while not _has_ended(fd):
                assert time.monotonic() < deadline, "it outlived the judge"
                time.sleep(0.01)
            os.close(fd)


JUDGE = """
import time
from sandbox.api import Profile
from sandbox.local import LocalSandbox
sandbox = LocalSandbox()
zygote = sandbox.zygote(["sandbox.probes"])
running, frozen = (zygote.spawn("sandbox.probes:count", Profile()) for _ in range(2))
frozen.freeze()
print(zygote.pid, running.pid, frozen.pid, flush=True)
time.sleep(3600)
"""


def _has_ended(pidfd: int) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/self/fdinfo/{pidfd}").read_text()
    return "Pid:\t-1" in state or _is_zombie(int(re.findall(r"^Pid:\s+(\d+)", state, re.MULTILINE)[0]))


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


class TestFreeze:
    @pytest.mark.parametrize(
        "entry",
        [
            *("count", "count_in_threads", "count_as_stopped"),
            *("sibling_thaws", "dying_child_continues", "fork_while_frozen"),
        ],
    )
    def test_a_frozen_process_stands_still_alone_and_goes_on(self, spawn: Spawn, entry: str) -> None:
        process = spawn(entry)
        read = counter(process)
        assert moves(read)
        namespace = os.readlink(f"/proc/{process.pid}/ns/pid")
        for _ in range(3):
            process.freeze()
            assert stands_still(read)
            alive = [p for p in namespace_members(namespace) if not _is_zombie(int(p))]
            assert alive == [str(process.pid)]
            process.thaw()
            assert moves(read)

    def test_freezing_twice_is_freezing_once(self, spawn: Spawn) -> None:
        process = spawn("count")
        read = counter(process)
        process.freeze()
        process.freeze()
        assert stands_still(read)
        process.thaw()
        assert moves(read)

    def test_no_timer_or_descriptor_can_send_the_signal_that_thaws(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        timer = """
            import ctypes, struct
            event = struct.pack('Qii', 0, 18, 0) + bytes(48)
            identity = ctypes.c_int(0)
            n = ctypes.CDLL(None, use_errno=True).timer_create(1, event, ctypes.byref(identity))
            1 / (n + 1)
            """
        assert refused(process, timer)
        assert refused(process, "import fcntl; a, b = os.pipe(); fcntl.fcntl(a, 10, 18)")

    def test_a_frozen_process_can_be_killed(self, spawn: Spawn) -> None:
        process = spawn("count")
        process.channel.receive(SECONDS)
        process.freeze()
        assert process.kill().kind is EndKind.KILLED_BY_US

    def test_scheduling_counts_threads(self, spawn: Spawn) -> None:
        process = spawn("count_in_threads")
        process.channel.receive(SECONDS)
        before = process.scheduling()
        assert before.threads == 4
        time.sleep(0.05)
        after = process.scheduling()
        assert after.run_delay_ns >= before.run_delay_ns
        assert after.involuntary_switches >= before.involuntary_switches


class TestMemory:
    def _pattern(self, spawn: Spawn) -> tuple[Process, int, bytes]:
        process = spawn("pattern")
        message, _ = process.channel.receive(SECONDS)
        return process, int(str(message["address"])), bytes(range(256)) * 64

    def test_spans_are_read_in_order(self, spawn: Spawn) -> None:
        process, address, expected = self._pattern(spawn)
        spans = [(address + (i * 37) % 8000, i % 5) for i in range(1500)]
        want = b"".join(expected[a - address : a - address + n] for a, n in spans)
        assert process.read_memory(spans) == want
        assert process.read_memory([]) == b""

    def test_memory_is_read_into_a_buffer(self, spawn: Spawn) -> None:
        process, address, expected = self._pattern(spawn)
        target = bytearray(1000)
        process.read_memory_into(address + 3, memoryview(target))
        assert target == expected[3:1003]

    @pytest.mark.parametrize(
        "span",
        [
            *((0, 8), (1 << 47, 8), (-8, 8), (4096, -1), ((1 << 64) - 4, 8), (1 << 80, 8), (8, 1 << 70)),
            *((1.5, 8), (True, 8), ("8", 8), (None, 8), (4096, 1 << 40)),
        ],
    )
    def test_a_span_that_is_not_there_is_refused(self, spawn: Spawn, span: Any) -> None:
        process, address, _ = self._pattern(spawn)
        with pytest.raises(MemoryUnreadable):
            process.read_memory([(address, 8), span])
        assert process.poll() is None

    def test_an_address_that_is_not_there_is_refused(self, spawn: Spawn) -> None:
        process, _, _ = self._pattern(spawn)
        for wrong in (0, -1, 1 << 47, 1 << 70):
            with pytest.raises(MemoryUnreadable):
                process.read_memory_into(wrong, memoryview(bytearray(64)))

    def test_it_cannot_hide_its_memory(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert value(process, "import ctypes; return ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)") == -1
        assert value(process, "import ctypes; return ctypes.CDLL(None).syscall(447, 0)") == -1
        address = value(
            process,
            "import ctypes; f.__globals__['b'] = b = ctypes.create_string_buffer(b'here'); return ctypes.addressof(b)",
        )
        assert len(process.read_memory([(address, 4)])) == 4


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


class TestZygote:
    def test_a_module_that_was_not_preloaded_is_refused(self, zygote: Zygote) -> None:
        with pytest.raises(ValueError, match="preloaded"):
            zygote.spawn("os:abort", Profile())

    def test_a_module_that_cannot_be_imported_is_named(self, backend: Sandbox) -> None:
        with pytest.raises(SandboxError, match="no_such_module"):
            backend.zygote(["no_such_module"])

    @pytest.mark.slow
    def test_torch_is_there_in_a_warm_child(self, backend: Sandbox) -> None:
        pytest.importorskip("torch")
        folder = str(Path(__file__).parent)
        sys.path.append(folder)
        try:
            warm = backend.zygote(["torch", "sandbox_entries"])
        finally:
            sys.path.remove(folder)
        process = warm.spawn("sandbox_entries:evaluate", Profile())
        body = "import torch; torch.set_num_threads(2); a = torch.ones(600, 600); return float((a @ a).sum())"
        assert value(process, body) == 600.0**3
        warm.close()
        assert process.poll() is not None

    def test_fifty_spawns_leave_nothing(self, zygote: Zygote) -> None:
        profile = Profile(limits=SMALL)
        zygote.spawn("sandbox_entries:hang", profile).kill()
        before = _held()
        for number in range(50):
            process = zygote.spawn(
                "sandbox_entries:evaluate" if number % 2 else "sandbox_entries:fail", profile
            )
            if number % 3 == 0:
                process.poll()
            process.kill()
        deadline = time.monotonic() + SECONDS
        while any(now > then for now, then in zip(_held(), before, strict=True)):
            assert time.monotonic() < deadline, (before, _held())
            time.sleep(0.02)


def _held() -> tuple[int, int, int, int]:
    """This process's descriptors, its processes below, the mounts, the control groups of sandboxes."""
    me = str(os.getpid())
    ours = [g for g in Path("/sys/fs/cgroup").rglob(f"kernelwright-{me}-*") if g.is_dir()]
    mounts = Path("/proc/self/mounts").read_text().count("\n")
    return len(os.listdir("/proc/self/fd")), len(_descendants(me)), mounts, len(ours)


def _descendants(root: str) -> set[str]:
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            parents[name] = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
    found = {root}
    while grown := {p for p, parent in parents.items() if parent in found} - found:
        found |= grown
    return found - {root}
