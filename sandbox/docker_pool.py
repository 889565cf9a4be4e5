"""Containers that wait for the next entry of the same kind, their modules imported."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.api import Profile
from sandbox.docker_bundle import bundle
from sandbox.docker_container import Container, Yard

_Kind = tuple[object, ...]


class Pool:
    """Spares for the kind of profile that was asked for last: an engine fixes mounts and limits when it makes a
    container. Spares get ready by themselves, without a thread here that could disturb what is timed."""

    def __init__(self, yard: Yard, preload: Sequence[str], size: int) -> None:
        """Raises SandboxError for a module that is not there."""
        self._yard = yard
        self._preload = tuple(preload)
        self._code = bundle(preload)
        self._size = size
        self._kind: _Kind = ()
        self._spares: list[Container] = []

    def open(self) -> None:
        """See, by a first container, that the modules can be imported. Raises SandboxError."""
        self._fill(Profile(), 1)
        self._spares[0].ready()

    def take(self, profile: Profile) -> Container:
        """A container of this kind that is ready; others are made to wait for the next. Raises SandboxError."""
        if self._kind != _kind(profile):
            self.close()
            self._kind = _kind(profile)
        self._fill(profile, 1)
        taken = self._spares.pop(0)
        try:
            self._fill(profile, self._size)
            taken.ready()
        except BaseException:
            taken.remove()
            raise
        return taken

    def _fill(self, profile: Profile, number: int) -> None:
        while len(self._spares) < number:
            self._spares.append(Container(self._yard, profile, self._preload, self._code))

    def close(self) -> None:
        """Remove every spare. Raises SandboxError."""
        while self._spares:
            self._spares.pop().remove()


def _kind(profile: Profile) -> _Kind:
    """What the engine must know when it makes a container."""
    return (profile.readable, profile.masked, profile.devices, profile.cores, profile.limits)
