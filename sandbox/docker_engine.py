"""The Docker engine of this host, by its SDK: containers, their scratch volumes, and how they ended.

The SDK is an extra of this distribution and is loaded when an engine is first asked for.
"""

from __future__ import annotations

import contextlib
import importlib
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.api import Guarantee, SandboxError, SandboxUnavailable
from sandbox.docker_config import OWNER_LABEL

_SECONDS = 60
_LEAST_API = (1, 41)  # the first with private cgroup namespaces
_GONE = 404
_BEING_REMOVED = 409
_SIGNALS_FROM = 128
_KILLED = _SIGNALS_FROM + signal.SIGKILL


@dataclass(frozen=True)
class Ended:
    """How process 1 of a container ended: its exit code as the engine gives it, and whether the kernel killed
    anything in the container for want of memory."""

    code: int
    out_of_memory: bool

    @property
    def wait_status(self) -> int:
        """As wait(2) gives it. The engine adds 128 to a signal; an exit code of that size is taken for one, too."""
        number = self.code - _SIGNALS_FROM
        return number if 0 < number <= signal.SIGRTMAX else self.code << 8


class Engine:
    """One connection to the engine that DOCKER_HOST names, else the usual socket. Safe to use from one thread."""

    def __init__(self) -> None:
        """Raises SandboxUnavailable where there is no SDK, no engine, or one that is too old or on another host."""
        try:
            sdk = importlib.import_module("docker")
            failures = (
                sdk.errors.DockerException,
                importlib.import_module("requests").exceptions.RequestException,
            )
        except ImportError as e:
            raise unavailable(f"the Docker SDK is not installed ({e})", "install kernelwright[docker]") from e
        self._failures: tuple[type[Exception], ...] = failures
        settings = sdk.utils.kwargs_from_env()
        address = settings.get("base_url", "unix:///var/run/docker.sock")
        if not address.startswith("unix://"):
            remedy = "let DOCKER_HOST name a unix socket of this host"
            raise unavailable(f"descriptors cannot be handed to an engine at {address}", remedy)
        try:
            _knock(address.removeprefix("unix://"))
            self._client: Any = sdk.APIClient(version="auto", timeout=_SECONDS, **settings)
        except (OSError, *failures) as e:
            raise unavailable(
                f"no engine answers at {address}: {e}", "start one, and let this user use it"
            ) from e
        self._require(self._client.api_version)

    def _require(self, version: str) -> None:
        if tuple(int(part) for part in version.split(".")) < _LEAST_API:
            self.close()
            least = ".".join(map(str, _LEAST_API))
            raise unavailable(f"the engine speaks API {version}, not {least}", "use Docker 20.10 or later")

    @contextlib.contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        """Whatever the SDK raises is SandboxError; a `wait` that takes too long is a ConnectionError of requests."""
        try:
            yield
        except self._failures as e:
            raise SandboxError(f"the engine could not {what}: {e}") from e

    def make_volume(self, volume: dict[str, object]) -> None:
        """Make a volume, as `docker_config.scratch` describes it. Raises SandboxError."""
        with self._asked("make a volume"):
            self._client.create_volume(**volume)

    def make(self, container: dict[str, object]) -> str:
        """Make a container, as `docker_config.container` describes it; its id. Raises SandboxError."""
        with self._asked(f"make a container of image {container['image']}"):
            return str(self._client.create_container(**container)["Id"])

    def start(self, identity: str) -> None:
        """Start a container. Raises SandboxError."""
        with self._asked("start a container"):
            self._client.start(identity)

    def has_image(self, name: str) -> bool:
        """Whether the engine has an image. Raises SandboxError."""
        with self._asked("list images"):
            return bool(self._client.images(name=name))

    def pid(self, identity: str) -> int:
        """The host's pid of process 1; 0 where it has ended. Raises SandboxError."""
        with self._asked("look at a container"):
            return int(self._client.inspect_container(identity)["State"]["Pid"])

    def ended(self, identity: str) -> Ended:
        """How it ended; waits, as its process is known to be gone. One that somebody removed was killed.

        Raises SandboxError.
        """
        with self._asked("wait for a container"), self._unless_gone():
            self._client.wait(identity)
            state = self._client.inspect_container(identity)["State"]
            return Ended(int(state["ExitCode"]), bool(state["OOMKilled"]))
        return Ended(_KILLED, False)

    def said(self, identity: str) -> str:
        """What process 1 wrote before it was handed anything. Raises SandboxError."""
        with self._asked("read a container's log"):
            text: bytes = self._client.logs(identity, tail=20)
            return text.decode(errors="replace").strip()

    def remove(self, identity: str) -> None:
        """End a container and remove it. One that is gone already is none of its business. Raises SandboxError."""
        with self._asked("remove a container"), self._unless_gone():
            self._client.remove_container(identity, force=True)

    def remove_volume(self, name: str) -> None:
        """Remove a volume. One that is gone already is none of its business. Raises SandboxError."""
        with self._asked("remove a volume"), self._unless_gone():
            self._client.remove_volume(name)

    @contextlib.contextmanager
    def _unless_gone(self) -> Iterator[None]:
        try:
            yield
        except self._failures as e:
            if getattr(e, "status_code", None) not in (_GONE, _BEING_REMOVED):
                raise

    def remove_all_of(self, owner: str) -> None:
        """End and remove everything that a judge left. Raises SandboxError."""
        with self._asked("list containers and volumes"):
            chosen = {"label": f"{OWNER_LABEL}={owner}"}
            containers = [c["Id"] for c in self._client.containers(all=True, filters=chosen)]
            volumes = [v["Name"] for v in self._client.volumes(filters=chosen)["Volumes"] or []]
        for identity in containers:
            self.remove(identity)
        for name in volumes:
            self.remove_volume(name)

    def owners(self) -> set[str]:
        """The judges that left anything. Raises SandboxError."""
        with self._asked("list containers and volumes"):
            labelled = {"label": OWNER_LABEL}
            found = self._client.containers(all=True, filters=labelled)
            found += self._client.volumes(filters=labelled)["Volumes"] or []
            return {str(item["Labels"][OWNER_LABEL]) for item in found}

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _knock(path: str) -> None:
    """Raise OSError where nobody listens: the SDK would leave its own socket open then."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.connect(path)


def unavailable(text: str, remedy: str) -> SandboxUnavailable:
    """The backend cannot be used on this host."""
    return SandboxUnavailable(
        f"Docker cannot be used: {text}; {remedy}", (Guarantee("engine", False, text, remedy),)
    )
