"""The tier `namespaces`: a fork server per set of modules, and every child in namespaces of its own.

As root each child has a uid of its own; as an ordinary user it keeps the user's. Linux 5.12 or later.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from sandbox import commands, gaps, rootfs
from sandbox.api import Command, Completed, Guarantee, Process, Profile, Sandbox, SandboxError, Zygote
from sandbox.cgroups import Cgroups, Group
from sandbox.channel import SocketChannel
from sandbox.guarantees import find_guarantees
from sandbox.output import BoundedOutput
from sandbox.process import LocalProcess
from sandbox.report import Report
from sandbox.spec import SpawnRequest
from sandbox.uids import UidPool, may_choose_uids
from sandbox.zygote import BOOT

_PRELOAD_SECONDS = 300.0
_SPAWN_SECONDS = 60.0
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",  # its threads, started on import, would be lost by the fork
}
_COLD_ENTRY = "sandbox.cold:main"
_OWN_MODULES = ("sandbox.cold", "sandbox.probes")
_UIDS = UidPool()


class LocalSandbox(Sandbox):
    """Isolation by namespaces, Landlock, seccomp, rlimits and, where it may make them, control groups."""

    name = "namespaces"

    def __init__(self) -> None:
        self._bare: LocalZygote | None = None
        self._zygotes: list[LocalZygote] = []
        self._host: _Host | None = None
        self._guarantees: tuple[Guarantee, ...] | None = None

    def guarantees(self) -> tuple[Guarantee, ...]:
        if self._guarantees is None:
            self._guarantees = find_guarantees(self._ready(), self._fresh)
        return self._guarantees

    def known_gaps(self) -> Mapping[str, str]:
        return gaps.known(own_uids=self._host_facts().drop, memory_groups=self._host_facts().cgroups.memory)

    def zygote(self, preload: Sequence[str]) -> LocalZygote:
        self._ready()
        return self._fresh(preload)

    def run(self, command: Command, profile: Profile, timeout: float) -> Completed:
        commands.check(command)
        begun = time.monotonic()
        process = self._ready().spawn(_COLD_ENTRY, profile)
        return commands.carry_out(process, command, timeout, begun)

    def close(self) -> None:
        for zygote in self._zygotes:
            zygote.close()
        self._zygotes.clear()
        self._bare = None

    def _fresh(self, preload: Sequence[str]) -> LocalZygote:
        zygote = LocalZygote(self._host_facts(), preload)
        self._zygotes.append(zygote)
        return zygote

    def _host_facts(self) -> _Host:
        if self._host is None:
            self._host = _Host()
        return self._host

    def _ready(self) -> LocalZygote:
        """The zygote of cold processes; the first call shows, by one child, that the host allows a sandbox."""
        if self._bare is None:
            bare = self._fresh(_OWN_MODULES)
            bare.spawn("sandbox.probes:answer", Profile()).kill()
            self._bare = bare
        return self._bare


class _Host:
    """What this process may do on this host."""

    def __init__(self) -> None:
        self.drop = may_choose_uids()
        self.cgroups = Cgroups()


class LocalZygote(Zygote):
    """A fork server in a process of its own, in a session of its own so that Ctrl-C does not reach it."""

    def __init__(self, host: _Host, preload: Sequence[str]) -> None:
        """Raises SandboxError where a module cannot be imported, or starts threads."""
        self._host = host
        self._preload = tuple(preload)
        self._processes: list[LocalProcess] = []
        self._control, theirs = SocketChannel.pair()
        with theirs:
            self._server = _start_server(theirs)
        try:
            self._control.send({"preload": list(preload)})
            answer, _ = self._control.receive(_PRELOAD_SECONDS)
        except (EOFError, TimeoutError) as e:
            self.close()
            raise SandboxError(f"the fork server did not start: {e}") from e
        if "error" in answer:
            self.close()
            raise SandboxError(f"the fork server could not import {', '.join(preload)}: {answer['error']}")

    @property
    def pid(self) -> int:
        """The fork server's pid."""
        return self._server.pid

    def spawn(self, entry: str, profile: Profile) -> Process:
        module = entry.partition(":")[0]
        if module not in self._preload:
            raise ValueError(f"{module} is not among the preloaded modules: {', '.join(self._preload)}")
        with contextlib.ExitStack() as undo:
            uid, gid = self._identity(undo)
            group = self._host.cgroups.make(profile.limits)
            undo.callback(group.remove)
            request = self._request(entry, profile, uid, gid, group)
            process = self._start(request, group, undo)
        self._processes = [p for p in self._processes if not p.gone]
        self._processes.append(process)
        return process

    def _identity(self, undo: contextlib.ExitStack) -> tuple[int, int]:
        if not self._host.drop:
            return os.geteuid(), os.getegid()
        uid = _UIDS.take()
        undo.callback(_UIDS.give_back, uid)
        return uid, uid

    def _request(self, entry: str, profile: Profile, uid: int, gid: int, group: Group) -> SpawnRequest:
        return SpawnRequest(
            entry=entry,
            uid=uid,
            gid=gid,
            drop=self._host.drop,
            cgroups=group.members,
            bound_address_space=not group.bounds_memory,
            cores=profile.cores,
            environment=dict(profile.environment),
            limits=profile.limits,
            root=rootfs.plan(profile),
        )

    def _start(self, request: SpawnRequest, group: Group, undo: contextlib.ExitStack) -> LocalProcess:
        """Have the server fork; what is to be freed moves from `undo` to the process when it has started."""
        channel, child_end = SocketChannel.pair()
        undo.callback(channel.close)
        reports, report_end = SocketChannel.pair()
        undo.callback(reports.close)
        output = BoundedOutput(request.limits.output_bytes)
        undo.callback(output.close)
        with child_end, report_end:
            self._ask(request, [report_end.fileno(), child_end.fileno(), output.fileno()])
        report = Report(reports)
        started = report.started(_SPAWN_SECONDS)
        return LocalProcess(started, channel, report, output, group, undo.pop_all().close)

    def _ask(self, request: SpawnRequest, fds: list[int]) -> None:
        try:
            self._control.send(request.to_message(), fds)
        except EOFError as e:
            raise SandboxError("the fork server is gone") from e

    def close(self) -> None:
        for process in list(self._processes):
            process.kill()
        self._processes.clear()
        self._control.close()
        self._server.kill()
        self._server.wait()


def _start_server(theirs: socket.socket) -> subprocess.Popen[bytes]:
    path = [p for p in sys.path if os.path.isabs(p)]
    fd = theirs.fileno()
    return subprocess.Popen(
        [sys.executable, "-I", "-c", BOOT, json.dumps(path), str(fd), str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(fd,),
        cwd="/",
        env=_ENVIRONMENT,
        start_new_session=True,
    )
