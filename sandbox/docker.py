"""The backend `docker`: one container for each process, on an engine of this host.

Namespaces, control groups and the file system are the engine's work; what remains is done by the process itself
before foreign code arrives (`sandbox.docker_inside`). The judge stops, reads and kills process 1 of a container
by its pid on the host, as in the local backend. As root each container has a uid of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sandbox import commands
from sandbox.api import Command, Completed, Guarantee, Process, Profile, Sandbox, SandboxError, Zygote
from sandbox.docker_container import Yard
from sandbox.docker_engine import Engine, unavailable
from sandbox.docker_guard import Guard
from sandbox.docker_orphans import new_owner, remove_orphans
from sandbox.docker_pool import Pool
from sandbox.docker_settings import EngineSettings
from sandbox.guarantees import find_guarantees
from sandbox.process import LocalProcess
from sandbox.uids import may_choose_uids

_COLD_ENTRY = "sandbox.cold:main"
_OWN_MODULES = ("sandbox.cold", "sandbox.probes")
_SHARED_UID = "only root can give every container a uid of its own; it has the judge's"
_GAPS = {
    "its_mounts_do_not_name_the_judge_s_places": "the engine insists on a mount at /sys/fs/cgroup; it is an empty one",
}


class DockerSandbox(Sandbox):
    """Isolation by containers. Nothing is started before it is used."""

    name = "docker"

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self._settings = settings or EngineSettings()
        self._yard: Yard | None = None
        self._bare: DockerZygote | None = None
        self._zygotes: list[DockerZygote] = []
        self._guarantees: tuple[Guarantee, ...] | None = None

    def guarantees(self) -> tuple[Guarantee, ...]:
        if self._guarantees is None:
            self._guarantees = find_guarantees(self._ready(), self._mortal)
        return self._guarantees

    def known_gaps(self) -> Mapping[str, str]:
        holds = {g.name: g.holds for g in self.guarantees()}
        gaps = dict(_GAPS)
        if not may_choose_uids():
            gaps |= dict.fromkeys(("own_uid", "two_living_sandboxes_never_share_a_uid"), _SHARED_UID)
        if not holds["user_namespace"]:
            gaps["user_namespace"] = (
                "this host lets no container make one; it shares the engine's, without rights"
            )
        return gaps

    def zygote(self, preload: Sequence[str]) -> DockerZygote:
        zygote = DockerZygote(self.yard, preload)
        self._zygotes.append(zygote)
        return zygote

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
        if self._yard is not None:
            self._yard.guard.close()
            self._yard.engine.close()
            self._yard = None

    def _ready(self) -> DockerZygote:
        """The zygote of cold processes."""
        if self._bare is None:
            self._bare = self.zygote(_OWN_MODULES)
        return self._bare

    @property
    def yard(self) -> Yard:
        """The engine and the guard beside it, opened once; what judges that died left on it is removed then.

        Raises SandboxUnavailable.
        """
        if self._yard is None:
            engine = Engine()
            if not engine.has_image(self._settings.image):
                engine.close()
                raise unavailable(f"it has no image {self._settings.image}", "run scripts/docker-image.sh")
            remove_orphans(engine)
            owner = new_owner()
            self._yard = Yard(engine, Guard(owner), self._settings, owner)
        return self._yard

    def _mortal(self, preload: Sequence[str]) -> MortalZygote:
        """A zygote whose judge, as its guard sees it, is another process, which may be killed."""
        return MortalZygote(self.yard, preload)


class DockerZygote(Zygote):
    """Containers that have imported the same modules. Each is a process of its own from the start: nothing forks."""

    def __init__(self, yard: Yard, preload: Sequence[str]) -> None:
        """Raises SandboxError where a module cannot be imported in a container."""
        self._preload = tuple(preload)
        self._pool = Pool(yard, preload, yard.settings.spares)
        self._processes: list[LocalProcess] = []
        try:
            self._pool.open()
        except SandboxError:
            self._pool.close()
            raise

    def spawn(self, entry: str, profile: Profile) -> Process:
        module = entry.partition(":")[0]
        if module not in self._preload:
            raise ValueError(f"{module} is not among the preloaded modules: {', '.join(self._preload)}")
        taken = self._pool.take(profile)
        try:
            process = taken.start(entry, profile)
        except BaseException:
            taken.remove()
            raise
        self._processes = [p for p in self._processes if not p.gone]
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        self._processes.clear()
        self._pool.close()


class MortalZygote(DockerZygote):
    """A zygote whose guard takes another process for the judge: the self-test kills that one."""

    def __init__(self, yard: Yard, preload: Sequence[str]) -> None:
        self._stand_in = subprocess.Popen(
            [sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        owner = new_owner()
        self._guard = Guard(owner, self._stand_in.pid)
        try:
            super().__init__(replace(yard, guard=self._guard, owner=owner), preload)
        except BaseException:
            self._end_helpers()
            raise

    @property
    def pid(self) -> int:
        """The pid of the process that stands in for the judge."""
        return self._stand_in.pid

    def close(self) -> None:
        super().close()
        self._end_helpers()

    def _end_helpers(self) -> None:
        self._guard.close()
        self._stand_in.kill()
        self._stand_in.communicate()
