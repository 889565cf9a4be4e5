"""The sandbox interface: what every backend promises, in types and docstrings.

Errors (machinery failed; a command that failed is a value, see `ExitStatus`):

    SandboxError                 anything below
    ├── SandboxUnavailable       this host cannot give the tier that was asked for; `.missing` says what and why
    ├── SandboxProtocolError     the peer sent bytes that are not a message of ours, or too many of them
    └── ProcessGone              the process ended while something was asked of it; `.status` is its ExitStatus
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class SandboxError(Exception):
    """The sandbox machinery failed. Says nothing about what ran inside."""


class Tier(enum.StrEnum):
    """How far a host lets the local backend go, strongest first. Nothing is promoted from the weakest."""

    NAMESPACES = "namespaces"
    RESTRICTED = "restricted"


@dataclass(frozen=True)
class Guarantee:
    """One promise, and whether trying it from outside showed that it holds on this host."""

    name: str
    holds: bool
    detail: str
    remedy: str = ""


class SandboxUnavailable(SandboxError):
    """The host cannot enforce the tier; nothing was started."""

    def __init__(self, message: str, missing: Sequence[Guarantee] = ()) -> None:
        super().__init__(message)
        self.missing = tuple(missing)


class SandboxProtocolError(SandboxError):
    """Bytes from the other side broke framing, size or syntax."""


class EndKind(enum.StrEnum):
    """Why a process ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    OUT_OF_MEMORY = "out_of_memory"
    KILLED_BY_US = "killed_by_us"


@dataclass(frozen=True)
class ExitStatus:
    """How a sandboxed process ended. `code` is the exit code (EXITED) or signal number (SIGNALLED)."""

    kind: EndKind
    code: int = 0

    def __str__(self) -> str:
        return f"{self.kind.value} ({self.code})"


class ProcessGone(SandboxError):
    """The process ended while something was asked of it."""

    def __init__(self, status: ExitStatus) -> None:
        super().__init__(f"the sandboxed process is gone: {status}")
        self.status = status


@dataclass(frozen=True)
class Limits:
    """Hard limits of one sandbox. Bytes are bytes; None means not limited."""

    memory_bytes: int = 8 << 30
    processes: int = 64
    tmpfs_bytes: int = 512 << 20
    file_bytes: int = 512 << 20
    output_bytes: int = 256 << 10
    open_files: int = 512
    cpu_seconds: int | None = None


@dataclass(frozen=True)
class Profile:
    """What one sandbox may see and use.

    readable: host paths bound read-only at the same place (the interpreter, its packages, /usr are always there).
    masked:   host paths below a readable one that appear empty inside.
    devices:  device nodes below /dev that may be read, written and controlled, besides those that harm nobody. What
              their driver lets a process do is outside every guarantee; with them comes all of /sys, read-only.
    cores:    CPUs the process tree is pinned to; empty means all of the caller's.
    environment: the whole environment inside, besides HOME, TMPDIR and PATH; nothing is inherited.
    The private scratch is HOME, TMPDIR and the working folder: executable, empty at the start, of
    `limits.tmpfs_bytes`. It is a tmpfs at /tmp, shared with /dev/shm, in every backend that can make mounts; elsewhere
    a value of `environment` that is /tmp, or below it, is given its real place.
    """

    readable: tuple[Path, ...] = ()
    masked: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    cores: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Command:
    """A cold process: argv with `files` (relative name → bytes) laid into its working folder before it starts.

    `collect` names files, relative to the working folder, whose bytes are handed back if they exist afterwards.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: tuple[str, ...] = ()
    collect_bytes: int = 256 << 20


@dataclass(frozen=True)
class Completed:
    """What a cold process left. `output` is stdout and stderr together, cut at `limits.output_bytes`."""

    status: ExitStatus
    timed_out: bool
    output: bytes
    output_truncated: bool
    files: Mapping[str, bytes]
    wall_seconds: float


class Channel(Protocol):
    """Length-prefixed, size-capped JSON objects, with file descriptors, over a socketpair.

    Raises SandboxProtocolError on bytes that are not such a message, EOFError when the peer is gone,
    TimeoutError when nothing whole came in time.
    """

    def send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None: ...

    def receive(self, timeout: float | None = None) -> tuple[dict[str, object], list[int]]:
        """One message and the descriptors that came with it (the caller owns and closes them)."""
        ...

    def close(self) -> None: ...


class Process(ABC):
    """A warm process in a sandbox of its own, seen from outside: its first process, which all others come from.

    Everything that is asked of a process that has ended raises ProcessGone.
    """

    pid: int
    """Its pid on the host."""
    channel: Channel
    """The caller's end; the process was handed the other as its only inherited descriptor."""

    @abstractmethod
    def freeze(self) -> None:
        """Stop every thread, kill every other process of its sandbox, return once that is observed.

        After this nothing of the sandbox runs until `thaw`.
        """

    @abstractmethod
    def stop(self) -> None:
        """Tell its threads to stop, without waiting until they have. Cheap: one signal."""

    @abstractmethod
    def thaw(self) -> None:
        """Let it run again. Cheap: one signal."""

    @abstractmethod
    def read_memory(self, spans: Sequence[tuple[int, int]]) -> bytes:
        """Bytes of its memory: (address, length) spans, concatenated, in one system call per 512 spans.

        Raises MemoryUnreadable (a SandboxError) where an address is not mapped or reading is refused.
        """

    @abstractmethod
    def read_memory_into(self, address: int, target: memoryview) -> None:
        """Fill `target` from its memory at `address`, without a copy in between. Raises as `read_memory`."""

    @abstractmethod
    def scheduling(self) -> Scheduling:
        """What its threads have waited for so far."""

    @abstractmethod
    def poll(self) -> ExitStatus | None:
        """How it ended, or None while it lives."""

    @abstractmethod
    def kill(self) -> ExitStatus:
        """End it and everything in its sandbox, wait until they are gone, free what it held. Idempotent."""

    @abstractmethod
    def output(self) -> tuple[bytes, bool]:
        """What it wrote to stdout and stderr so far (bounded), and whether it hit the bound."""


class MemoryUnreadable(SandboxError):
    """An address given by a sandboxed process is not readable; the process is to blame."""


@dataclass(frozen=True)
class Scheduling:
    """Sums over the threads of a process: nanoseconds runnable but not running, pages that the kernel had to
    provide (minor faults), and nanoseconds running."""

    run_delay_ns: int
    minor_faults: int
    running_ns: int


class Zygote(ABC):
    """A process that has imported named modules and forks sandboxed children. It runs none but our code."""

    @abstractmethod
    def spawn(self, entry: str, profile: Profile) -> Process:
        """Fork a child, restrict it, then call `entry` ("module:function") with its Channel.

        The module must be among those preloaded. Returns once the child is restricted and running.
        """

    @abstractmethod
    def close(self) -> None:
        """End the zygote and all its children. Idempotent."""


class Sandbox(ABC):
    """A way of isolating processes on this host. Safe to use from one thread."""

    name: str

    @abstractmethod
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Every guarantee, found by trying it from outside (cached per process). Raises SandboxUnavailable."""

    @abstractmethod
    def known_gaps(self) -> Mapping[str, str]:
        """What this backend does not give on this host: name → reason.

        A name is that of a guarantee, or of a check of the conformance suite (its function without `test_`). The
        suite fails where one that is named here holds after all, and where one that is not named does not.
        Raises SandboxUnavailable.
        """

    @abstractmethod
    def zygote(self, preload: Sequence[str]) -> Zygote:
        """Start a zygote that imports `preload` (module names, in order) before it forks."""

    @abstractmethod
    def run(self, command: Command, profile: Profile, timeout: float) -> Completed:
        """Run a cold process to its end. No descendant survives. Raises only where the machinery failed."""

    @abstractmethod
    def close(self) -> None:
        """Free what the backend holds (cgroups, zygotes). Idempotent."""
