"""One container from its making to its end: it imports modules, is handed one entry, and is never used again."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from sandbox import docker_cpu, report, views
from sandbox.api import Profile, SandboxError, SandboxProtocolError
from sandbox.channel import SocketChannel
from sandbox.docker_config import CODE, SOCKET, Place, container, scratch
from sandbox.docker_engine import Ended, Engine
from sandbox.docker_guard import Guard
from sandbox.docker_inside import Request
from sandbox.docker_orphans import new_folder
from sandbox.docker_settings import EngineSettings
from sandbox.output import BoundedOutput
from sandbox.process import LocalProcess
from sandbox.report import Started
from sandbox.uids import UidPool, may_choose_uids

_CONNECT_SECONDS = 60.0
_IMPORT_SECONDS = 300.0
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.5
_CREDENTIALS = struct.Struct("3i")
_ANY_NUMBER_OF_PROCESSES = 1 << 20
_UIDS = UidPool()


@dataclass(frozen=True)
class Yard:
    """Where containers are made: the engine, the guard over them, how they are made, and the label of their owner."""

    engine: Engine
    guard: Guard
    settings: EngineSettings
    owner: str


class Container:
    """A container that was asked for. `ready` waits until it has imported its modules; `start` uses it up."""

    def __init__(self, yard: Yard, profile: Profile, preload: Sequence[str], code: bytes) -> None:
        """Returns once the engine has started it; it then gets ready by itself. Raises SandboxError."""
        self._yard = yard
        self._undo = contextlib.ExitStack()
        try:
            self._place = self._take_place(profile)
            self._listener = self._lay_out(code)
            self.identity = self._make(container(yard.settings, self._place, profile, preload), profile)
        except BaseException:
            self.remove()
            raise
        self._control: SocketChannel | None = None
        self._pid = self._pidfd = -1

    def _take_place(self, profile: Profile) -> Place:
        uid, gid = os.geteuid(), os.getegid()
        own_uid = may_choose_uids()
        if own_uid:
            uid = gid = _UIDS.take()
            self._undo.callback(_UIDS.give_back, uid)
        folder = new_folder(self._yard.owner)
        self._undo.callback(shutil.rmtree, folder, ignore_errors=True)
        return Place(uid, gid, own_uid, folder, folder.name, self._yard.owner)

    def _lay_out(self, code: bytes) -> socket.socket:
        """The folder's contents, for the container's user alone."""
        folder = self._place.folder
        folder.chmod(0o711)
        (folder / CODE).write_bytes(code)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._undo.callback(listener.close)
        listener.bind(str(folder / SOCKET))
        listener.listen(1)
        for name in (CODE, SOCKET):
            os.chown(folder / name, self._place.uid, self._place.gid)
        return listener

    def _make(self, wanted: dict[str, object], profile: Profile) -> str:
        engine = self._yard.engine
        engine.make_volume(scratch(self._place, profile.limits))
        self._undo.callback(engine.remove_volume, self._place.volume)
        identity = engine.make(wanted)
        self._undo.callback(engine.remove, identity)
        engine.start(identity)
        return identity

    def ready(self) -> None:
        """Wait until it has imported its modules; then nothing of our code is left in it to be read.

        Raises SandboxError for a module that cannot be imported, and a container that does not come up.
        """
        if self._control is not None:
            return
        control = self._accept()
        try:
            answer, _ = control.receive(_IMPORT_SECONDS)
        except (EOFError, TimeoutError) as e:
            raise SandboxError(f"a container did not import its modules: {e}; {self._said()}") from e
        if "error" in answer:
            raise SandboxError(f"a container could not import its modules: {answer['error']}")
        self._control = control
        shutil.rmtree(self._place.folder)

    def _accept(self) -> SocketChannel:
        """The connection of its process 1, whose pid and descriptor are known from then on."""
        self._wait_for_connection()
        connection, _ = self._listener.accept()
        control = SocketChannel(connection)
        self._undo.callback(control.close)
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self._pid, uid, _ = _CREDENTIALS.unpack(raw)
        if self._pid != self._yard.engine.pid(self.identity) or uid != self._place.uid:
            raise SandboxError("the engine's processes have other pids here: the judge must run on its host")
        self._pidfd = os.pidfd_open(self._pid)
        self._undo.callback(self._close_pidfd)
        self._yard.guard.hold(self.identity, self._pidfd)
        self._undo.callback(self._yard.guard.let_go, self.identity)
        docker_cpu.allow_real_time(self._pid)
        docker_cpu.make_ordinary(self._pid)  # it is waited for now
        return control

    def _wait_for_connection(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        deadline = time.monotonic() + _CONNECT_SECONDS
        while not poll.poll(_LOOK_SECONDS * 1000):
            if not self._yard.engine.pid(self.identity):
                raise SandboxError(f"a container ended before it reached the judge: {self._said()}")
            if time.monotonic() > deadline:
                raise SandboxError(f"a container does not reach the judge: {self._said()}")

    def _said(self) -> str:
        return self._yard.engine.said(self.identity) or "it said nothing"

    def _close_pidfd(self) -> None:
        """Unless the process that was started owns it."""
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def start(self, entry: str, profile: Profile) -> LocalProcess:
        """Have it run its entry; the process owns the container now. `ready` has returned. Raises SandboxError."""
        assert self._control is not None
        channel, child_end = SocketChannel.pair()
        self._undo.callback(channel.close)
        output = BoundedOutput(profile.limits.output_bytes)
        self._undo.callback(output.close)
        request = self._request(entry, profile)
        try:
            with child_end:
                self._control.send(asdict(request), [child_end.fileno(), output.fileno()])
            answer, table = self._control.receive(_START_SECONDS)
        except (EOFError, TimeoutError, SandboxProtocolError) as e:
            raise SandboxError(f"a container did not take its entry: {e}") from e
        if "error" in answer:
            raise report.refusal(answer)
        started = Started(self._pid, self._pidfd, tuple(table))
        end = _End(self._yard.engine, self.identity, self._pidfd)
        self._pidfd = -1
        return LocalProcess(started, channel, end, output, end, self._undo.pop_all().close)

    def _request(self, entry: str, profile: Profile) -> Request:
        view = views.of_own_root(profile)
        limits = profile.limits
        if not self._place.own_uid:  # else the uid's other processes would count; the engine counts these
            limits = replace(limits, processes=_ANY_NUMBER_OF_PROCESSES)
        environment = dict(profile.environment)
        return Request(entry, environment, limits, profile.cores, view.writable, view.devices)

    def remove(self) -> None:
        """End and remove it, unless a process owns it by now. Raises SandboxError."""
        self._undo.close()


class _End:
    """How the process 1 of a container ended, and what ended it."""

    def __init__(self, engine: Engine, identity: str, pidfd: int) -> None:
        self._engine = engine
        self._identity = identity
        self._pidfd = pidfd
        self._ended: Ended | None = None

    def ended(self, timeout: float) -> int | None:
        """Its wait status, None while it lives."""
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if self._ended is None:
            if not poll.poll(timeout * 1000):
                return None
            self._ended = self._engine.ended(self._identity)
        return self._ended.wait_status

    def oom_kills(self) -> int:
        """At least how many; known once it has ended."""
        return int(self._ended is not None and self._ended.out_of_memory)
