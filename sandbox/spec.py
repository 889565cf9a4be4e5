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
class View:
    """What Landlock lets a process reach of the file system that it sees.

    readable: with all below. listed: the names of all below. scratch: where it works, the first of `writable`.
    devices: nodes that may be read, written and controlled.
    """

    readable: tuple[str, ...]
    listed: tuple[str, ...]
    writable: tuple[str, ...]
    devices: tuple[str, ...]

    @property
    def scratch(self) -> str:
        """The private folder that is home, temporary and working folder."""
        return self.writable[0]


@dataclass(frozen=True)
class SpawnRequest:
    """One child to be forked.

    uid, gid: what the child runs as on the host. drop: the fork server is real root and changes to them.
    cgroups: `cgroup.procs` files that the child writes itself into.
    bound_address_space: no cgroup bounds memory, so RLIMIT_AS does.
    root: the file system to be built, in namespaces of the child's own; None where it has none.
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
    view: View
    root: RootPlan | None

    def to_message(self) -> dict[str, object]:
        """As JSON data."""
        return asdict(self)

    @staticmethod
    def from_message(message: Mapping[str, object]) -> SpawnRequest:
        """Read what `to_message` wrote; it comes from the judge, so its fields are taken as they are."""
        values = cast("dict[str, Any]", dict(message))
        values["root"] = _root(values["root"])
        values["view"] = View(**{name: tuple(paths) for name, paths in values["view"].items()})
        values["limits"] = Limits(**values["limits"])
        for name in ("cgroups", "cores"):
            values[name] = tuple(values[name])
        return SpawnRequest(**{f.name: values[f.name] for f in fields(SpawnRequest)})


def _root(values: Mapping[str, Any] | None) -> RootPlan | None:
    if values is None:
        return None
    return RootPlan(
        binds=tuple(Bind(**b) for b in values["binds"]),
        links=values["links"],
        masked=tuple(values["masked"]),
        scratch_bytes=values["scratch_bytes"],
    )


class SetupError(Exception):
    """A step of building a sandbox was refused. `step` names the guarantee that needs it."""

    def __init__(self, step: str, text: str) -> None:
        super().__init__(f"{step}: {text}")
        self.step = step
        self.text = text
