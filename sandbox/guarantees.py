"""The self-test of a backend: every guarantee found by trying it, looked at from the host."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sandbox import landlock
from sandbox.api import EndKind, Guarantee, Limits, MemoryUnreadable, Process, Profile, SandboxError, Zygote
from sandbox.report import NAMESPACE_REMEDY

_MEBI = 1 << 20
_NAMESPACES = ("user", "pid", "net", "ipc", "mnt", "uts", "cgroup")
_NAMES = {"mnt": "mount"}
_SECONDS = 20.0
_DEATH_SECONDS = 5.0
_LIMITS = Limits(memory_bytes=128 * _MEBI, processes=24, tmpfs_bytes=4 * _MEBI, output_bytes=16 << 10)
_PROFILE = Profile(environment={"KERNELWRIGHT_PROBE": "1"}, limits=_LIMITS)
_PRELOAD = ("sandbox.probes",)
_ANSWER = "sandbox.probes:answer"
_COUNT = "sandbox.probes:count"

_CGROUP_REMEDY = (
    "run as root, or in a delegated control group (systemd: Delegate=yes with DelegateSubgroup=) "
    "that has the memory and pids controllers"
)


class Server(Protocol):
    """A zygote whose fork server can be killed, to see that its children die with it."""

    @property
    def pid(self) -> int:
        """The fork server's pid."""
        ...

    def spawn(self, entry: str, profile: Profile) -> Process:
        """As `Zygote.spawn`."""
        ...

    def close(self) -> None:
        """As `Zygote.close`."""
        ...


Fresh = Callable[[Sequence[str]], Server]


def find_guarantees(zygote: Zygote, fresh: Fresh) -> tuple[Guarantee, ...]:
    """Try everything. `zygote` has preloaded `sandbox.probes`; `fresh` starts one that may be killed.

    Raises SandboxError where a probe itself could not be run.
    """
    process = zygote.spawn(_ANSWER, _PROFILE)
    try:
        found = [*_seen_from_host(process.pid), *_tried_inside(process), *_files(process), _output(process)]
        found.append(_memory_readable(process))
        found.append(_processes(process))
    finally:
        process.kill()
    found += [_memory_limit(zygote), _freeze(zygote), _complete_kill(zygote), _death_with_parent(fresh)]
    return tuple(found)


def ask(process: Process, name: str, argument: object = None) -> Any:
    """One question to `sandbox.probes:answer`. Raises as `Channel`."""
    process.channel.send({"ask": name, "with": argument})
    message, _ = process.channel.receive(_SECONDS)
    return message["answer"]


def _status(pid: int) -> Mapping[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _seen_from_host(pid: int) -> list[Guarantee]:
    status = _status(pid)
    uids = set(status["Uid"].split())
    own_uid = uids.isdisjoint({str(os.getuid()), str(os.geteuid()), "0"}) and len(uids) == 1
    found = [
        Guarantee("own_uid", own_uid, f"uid {', '.join(sorted(uids))} on the host", "run the judge as root")
    ]
    for kind in _NAMESPACES:
        ours, theirs = (_namespace(who, kind) for who in ("self", str(pid)))
        name = f"{_NAMES.get(kind, kind)}_namespace"
        own = bool(theirs) and ours != theirs
        found.append(Guarantee(name, own, theirs or "cannot be looked at", NAMESPACE_REMEDY))
    sets = [status[f"Cap{s}"] for s in ("Inh", "Prm", "Eff", "Amb")]
    found.append(Guarantee("no_capabilities", all(int(s, 16) == 0 for s in sets), ", ".join(sets)))
    found.append(Guarantee("no_new_privs", status["NoNewPrivs"] == "1", f"NoNewPrivs {status['NoNewPrivs']}"))
    found.append(Guarantee("seccomp", status["Seccomp"] == "2", f"Seccomp {status['Seccomp']}"))
    return found


def _tried_inside(process: Process) -> list[Guarantee]:
    sockets = ask(process, "sockets")
    privileges = ask(process, "privileges")
    environment = ask(process, "environment")
    descriptors = ask(process, "descriptors")
    ours = {"KERNELWRIGHT_PROBE", "HOME", "TMPDIR", "PATH"}
    renamed = ask(process, "rename")
    remedy = "use a kernel with Landlock (5.13 or later) among its active security modules"
    enforced = f"ABI {landlock.abi()}; a file that only Landlock guards could be written: {renamed}"
    judge = f"/proc/{os.getpid()}"
    secrets = ask(process, "read", [f"{judge}/{name}" for name in ("environ", "mem", "maps", "fd")])
    return [
        Guarantee("others_unreadable", not secrets, f"readable of the judge: {secrets or 'nothing'}"),
        Guarantee("landlock", not renamed, enforced, remedy),
        Guarantee("no_sockets", not sockets, f"address families that opened: {sockets or 'none'}"),
        Guarantee("no_privileged_calls", not privileges, f"calls that worked: {privileges or 'none'}"),
        Guarantee("scrubbed_environment", set(environment) == ours, ", ".join(sorted(environment))),
        Guarantee("no_inherited_descriptors", descriptors == [0, 1, 2, 3], f"open: {descriptors}"),
    ]


def _files(process: Process) -> list[Guarantee]:
    folders = ["/", "/usr", "/etc", "/proc", "/dev", "/sys", "/var", "/run", *_host_places()]
    written = ask(process, "write", folders)
    scratch = ask(process, "write", ["/tmp", "/dev/shm"])
    read = ask(process, "read", ["/etc/shadow", "/root/.ssh", *_host_places()])
    filled = ask(process, "fill", 4 * _LIMITS.tmpfs_bytes)
    return [
        Guarantee("read_only_system", not written, f"written to: {written or 'none'}"),
        Guarantee("private_tmpfs", len(scratch) == 2, f"writable: {scratch or 'none'}", NAMESPACE_REMEDY),
        Guarantee(
            "tmpfs_bounded",
            filled <= _LIMITS.tmpfs_bytes,
            f"{filled} bytes fit, the bound is {_LIMITS.tmpfs_bytes}",
            NAMESPACE_REMEDY,
        ),
        Guarantee("host_files_hidden", not read, f"readable: {read or 'none'}"),
    ]


def _host_places() -> list[str]:
    """Our own code, and folders of the host but those that had to be made anew above an interpreter's place."""
    shown = [Path(p).resolve() for p in (sys.prefix, sys.base_prefix, *sys.path) if p]
    folders = [f for f in ("/var", "/run", "/home") if not any(p.is_relative_to(f) for p in shown)]
    return [*folders, str(Path(__file__).resolve().parent)]


def _output(process: Process) -> Guarantee:
    taken = ask(process, "flood", 8 * _LIMITS.output_bytes)
    text, full = process.output()
    holds = taken <= _LIMITS.output_bytes and full and len(text) <= _LIMITS.output_bytes
    return Guarantee(
        "output_bounded", holds, f"{taken} bytes were taken, the bound is {_LIMITS.output_bytes}"
    )


def _memory_readable(process: Process) -> Guarantee:
    address, length = ask(process, "pattern")
    try:
        data = process.read_memory([(address, length)])
    except MemoryUnreadable as e:
        return Guarantee("memory_readable_by_judge", False, str(e), "allow process_vm_readv to the judge")
    return Guarantee(
        "memory_readable_by_judge", data == bytes(range(256)) * (length // 256), f"{length} bytes"
    )


def _processes(process: Process) -> Guarantee:
    started = ask(process, "fork", 4 * _LIMITS.processes)
    return Guarantee(
        "process_limit",
        started < _LIMITS.processes,
        f"{started} could be started, the limit is {_LIMITS.processes} with the first",
        _CGROUP_REMEDY,
    )


def _memory_limit(zygote: Zygote) -> Guarantee:
    """A limit that holds for the whole sandbox ends the process; one for each process only makes it fail."""
    process = zygote.spawn(_ANSWER, _PROFILE)
    try:
        had = ask(process, "allocate", 2 * _LIMITS.memory_bytes)
        detail = "not bounded" if had else "bounded for each process only (RLIMIT_AS), not for all together"
        return Guarantee("memory_limit", False, detail, _CGROUP_REMEDY)
    except EOFError:
        status = process.kill()
        return Guarantee("memory_limit", status.kind is EndKind.OUT_OF_MEMORY, str(status), _CGROUP_REMEDY)
    finally:
        process.kill()


def _freeze(zygote: Zygote) -> Guarantee:
    process = zygote.spawn(_COUNT, _PROFILE)
    try:
        message, _ = process.channel.receive(_SECONDS)
        span = [(int(str(message["address"])), 8)]
        process.freeze()
        first = process.read_memory(span)
        time.sleep(0.01)
        still = process.read_memory(span) == first
        process.thaw()
        moved = _soon(lambda: process.read_memory(span) != first)
        return Guarantee(
            "freeze", still and moved, f"still when frozen: {still}, goes on when thawed: {moved}"
        )
    finally:
        process.kill()


def _complete_kill(zygote: Zygote) -> Guarantee:
    process = zygote.spawn(_ANSWER, _PROFILE)
    ask(process, "fork", 8)
    mark = _mark(process.pid)
    process.kill()
    left = [p for p in os.listdir("/proc") if p.isdigit() and _mark(int(p)) == mark]
    return Guarantee("complete_kill", not left, f"processes left: {left or 'none'}")


def _mark(pid: int) -> object:
    """What only the processes of one sandbox have: a uid that is not ours, else the file they write their output to.

    Anything else of a process that is none, or cannot be looked at.
    """
    try:
        uid = os.stat(f"/proc/{pid}").st_uid
        if uid != os.geteuid():
            return uid
        output = os.stat(f"/proc/{pid}/fd/1")
    except OSError:
        return None
    return output.st_dev, output.st_ino


def _namespace(pid: str, kind: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return ""


def _death_with_parent(fresh: Fresh) -> Guarantee:
    zygote = fresh(_PRELOAD)
    try:
        process = zygote.spawn(_COUNT, _PROFILE)
        process.channel.receive(_SECONDS)
        lifetime = os.pidfd_open(process.pid)
        os.kill(zygote.pid, signal.SIGKILL)
        dead = _readable(lifetime)
        os.close(lifetime)
    except (EOFError, TimeoutError) as e:
        raise SandboxError(f"the probe for death with the parent failed: {e}") from e
    finally:
        zygote.close()
    return Guarantee(
        "death_with_parent", dead, "its fork server was killed, and it died" if dead else "it lived on"
    )


def _readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(_DEATH_SECONDS * 1000))


def _soon(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True
