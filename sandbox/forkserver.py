"""The judge's side of a fork server: starts it, has it fork sandboxed children, ends it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence

from sandbox import rootfs, views
from sandbox.api import Process, Profile, SandboxError, Zygote
from sandbox.cgroups import Group
from sandbox.channel import SocketChannel
from sandbox.host import Host
from sandbox.kin import Descendants, Namespace, SameUid
from sandbox.output import BoundedOutput
from sandbox.process import LocalProcess
from sandbox.procfs import Kin
from sandbox.report import Report, Started
from sandbox.scratch import remove as remove_folder
from sandbox.spec import SpawnRequest
from sandbox.uids import UidPool
from sandbox.zygote import BOOT

_PRELOAD_SECONDS = 300.0
_SPAWN_SECONDS = 60.0
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",  # its threads, started on import, would be lost by the fork
}
_UIDS = UidPool()


class LocalZygote(Zygote):
    """A fork server in a process of its own, in a session of its own so that Ctrl-C does not reach it."""

    def __init__(self, host: Host, preload: Sequence[str]) -> None:
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
            scratch = self._scratch(uid, gid, undo)
            group = self._host.cgroups.make(profile.limits)
            undo.callback(group.remove)
            request = self._request(entry, profile, uid, gid, group, scratch)
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

    def _scratch(self, uid: int, gid: int, undo: contextlib.ExitStack) -> str | None:
        """A folder of the host, where the child cannot mount one; it is removed when the child is gone."""
        if self._host.scratch is None:
            return None
        folder = self._host.scratch.make(uid, gid)
        undo.callback(remove_folder, folder)
        return folder

    def _request(
        self, entry: str, profile: Profile, uid: int, gid: int, group: Group, scratch: str | None
    ) -> SpawnRequest:
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
            view=views.of_own_root(profile) if scratch is None else views.of_host(profile, scratch),
            root=rootfs.plan(profile) if scratch is None else None,
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
        account = (request.uid, request.gid) if self._host.borrows_ids else None
        kin = _kin(request, started)
        return LocalProcess(started, channel, report, output, group, undo.pop_all().close, kin, account)

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


def _kin(request: SpawnRequest, started: Started) -> Kin:
    if request.root is not None:
        return Namespace()
    if request.drop:
        return SameUid(request.uid, started.pid)
    return Descendants(started.keeper, started.pid)


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
