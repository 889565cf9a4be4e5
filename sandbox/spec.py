"""What the judge asks of the fork server: plain data, made by us and sent as one message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from sandbox.api import Limits


@dataclass(frozen=True)
class Bind:
    """A host path shown read-only at `target`."""

    source: str
    target: str


@dataclass(frozen=True)
class RootPlan:
    """The file system of one sandbox. `links` are symbolic links (path → text), `masked` paths appear empty."""

    binds: tuple[Bind, ...]
    links: Mapping[str, str]
    masked: tuple[str, ...]
    scratch_bytes: int


@dataclass(frozen=True)
class SpawnRequest:
    """One child to be forked.

    uid, gid: what the child runs as on the host. drop: the fork server is real root and changes to them.
    cgroups: `cgroup.procs` files that the child writes itself into.
    bound_address_space: no cgroup bounds memory, so RLIMIT_AS does.
    """

    entry: str
    uid: int
    gid: int
    drop: bool
    cgroups: tuple[str, ...]
    bound_address_space: bool
    cores: tuple[int, ...]
    environment: Mapping[str, str]
    limits: Limits
    root: RootPlan

    def to_message(self) -> dict[str, object]:
        """As JSON data."""
        return asdict(self)

    @staticmethod
    def from_message(message: Mapping[str, object]) -> SpawnRequest:
        """Read what `to_message` wrote; it comes from the judge, so its fields are taken as they are."""
        values = cast("dict[str, Any]", dict(message))
        root = values["root"]
        values["root"] = RootPlan(
            binds=tuple(Bind(**b) for b in root["binds"]),
            links=root["links"],
            masked=tuple(root["masked"]),
            scratch_bytes=root["scratch_bytes"],
        )
        values["limits"] = Limits(**values["limits"])
        for name in ("cgroups", "cores"):
            values[name] = tuple(values[name])
        return SpawnRequest(**{f.name: values[f.name] for f in fields(SpawnRequest)})


class SetupError(Exception):
    """A step of building a sandbox was refused. `step` names the guarantee that needs it."""

    def __init__(self, step: str, text: str) -> None:
        super().__init__(f"{step}: {text}")
        self.step = step
        self.text = text
