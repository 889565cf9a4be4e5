"""The local backend: a fork server per set of modules, and every child in a sandbox of its own.

Two tiers: `namespaces` (Linux 5.12 or later), and `restricted` for hosts that refuse namespaces. As root each child
has a uid of its own; as an ordinary user it keeps the user's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Self

from sandbox import commands, gaps
from sandbox.api import Command, Completed, Guarantee, Profile, Sandbox, SandboxUnavailable, Tier
from sandbox.forkserver import LocalZygote
from sandbox.guarantees import find_guarantees
from sandbox.host import Host

_COLD_ENTRY = "sandbox.cold:main"
_OWN_MODULES = ("sandbox.cold", "sandbox.probes")


def open_strongest(require: Tier) -> LocalSandbox:
    """The strongest tier that this host gives. Raises SandboxUnavailable where it does not give `require`."""
    strongest = LocalSandbox(Tier.NAMESPACES)
    try:
        return strongest.tried()
    except SandboxUnavailable as refused:
        if require is Tier.NAMESPACES:
            raise
        try:
            return LocalSandbox(Tier.RESTRICTED).tried()
        except SandboxUnavailable as e:
            both = (*refused.missing, *e.missing)
            raise SandboxUnavailable(f"{refused}; and without namespaces: {e}", both) from e


class LocalSandbox(Sandbox):
    """Isolation by Landlock, seccomp, rlimits, control groups where it may make them, and by namespaces in the tier
    of that name. Where the judge is root, every sandbox has a uid of its own."""

    def __init__(self, tier: Tier = Tier.NAMESPACES) -> None:
        self.name = tier.value
        self._tier = tier
        self._bare: LocalZygote | None = None
        self._zygotes: list[LocalZygote] = []
        self._host: Host | None = None
        self._guarantees: tuple[Guarantee, ...] | None = None

    def guarantees(self) -> tuple[Guarantee, ...]:
        if self._guarantees is None:
            self._guarantees = find_guarantees(self._ready(), self._fresh)
        return self._guarantees

    def tried(self) -> Self:
        """Itself, after one child was started. Raises SandboxUnavailable where this host refuses the tier."""
        try:
            self._ready()
        except BaseException:
            self.close()
            raise
        return self

    def known_gaps(self) -> Mapping[str, str]:
        return gaps.known(self._tier, self._facts())

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
        if self._host is not None:
            self._host.close()
            self._host = None

    def _fresh(self, preload: Sequence[str]) -> LocalZygote:
        zygote = LocalZygote(self._facts(), preload)
        self._zygotes.append(zygote)
        return zygote

    def _facts(self) -> Host:
        if self._host is None:
            self._host = Host(self._tier)
        return self._host

    def _ready(self) -> LocalZygote:
        """The zygote of cold processes; the first call shows, by one child, that the host allows a sandbox."""
        if self._bare is None:
            bare = self._fresh(_OWN_MODULES)
            bare.spawn("sandbox.probes:answer", Profile()).kill()
            self._bare = bare
        return self._bare
