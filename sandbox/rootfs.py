"""Which host paths a sandbox shows: the system, the interpreter with its packages, and what the profile adds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sandbox import tales
from sandbox.api import Profile, SandboxError
from sandbox.spec import Bind, RootPlan

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
_FROM_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
_FROM_SYS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_OWN_PACKAGES = ("sandbox", "evaluator", "agent", "services", "migrations")
_MADE_INSIDE = ("/dev", "/proc", "/etc", "/")


def plan(profile: Profile, system: bool = True) -> RootPlan:
    """The root of a sandbox with this profile.

    system: whether the host's system and a /proc are shown; without it only the interpreter with its packages and
    what the profile adds. Raises SandboxError for a readable path that is not there, or that would uncover the
    host's /dev, /proc, /etc or everything, and for a device that is none.
    """
    shown = (*_SYSTEM, *_FROM_ETC, *_FROM_SYS) if system else _FROM_SYS
    links = {p: os.path.relpath(os.path.realpath(p), "/") for p in shown if os.path.islink(p)}
    wanted = [p for p in shown if p not in links and os.path.exists(p)]
    wanted += [str(p) for p in _interpreter()]
    for path in profile.readable:
        text = os.path.abspath(path)
        if not os.path.exists(text):
            raise SandboxError(f"the profile's readable path does not exist: {path}")
        if os.path.realpath(text) in _MADE_INSIDE:
            raise SandboxError(f"{path} cannot be shown inside a sandbox")
        wanted.append(text)
    wanted += _with_devices(profile.devices)
    binds = _without_covered(links, wanted)
    hidden = [os.path.realpath(p) for p in (*_own_folders(), *profile.masked)]
    masked = tuple(p for p in dict.fromkeys(hidden) if os.path.exists(p) and _shown(p, binds))
    if system:
        masked += tuple(tales.told())
    return RootPlan(binds, links, masked, profile.limits.tmpfs_bytes)


def _with_devices(devices: Sequence[Path]) -> list[str]:
    """What else is shown with devices, whose drivers look there for what the machine has."""
    for device in devices:
        if not device.is_char_device() or device.parts[:2] != ("/", "dev"):
            raise SandboxError(f"{device} is no character device below /dev")
    return ["/sys"] if devices else []


def _interpreter() -> Iterator[Path]:
    yield from (Path(p) for p in dict.fromkeys((sys.base_prefix, sys.prefix)))
    for entry in sys.path:
        path = Path(entry)
        if path.is_absolute() and path.name in _PACKAGE_FOLDERS and path.is_dir():
            yield path


def _own_folders() -> list[Path]:
    ours = Path(__file__).resolve().parent.parent
    return [ours / name for name in _OWN_PACKAGES]


def _without_covered(links: dict[str, str], wanted: Iterable[str]) -> tuple[Bind, ...]:
    """Binds for each path at its real place, and at the place as given where that is another."""
    binds = [Bind(os.path.realpath(p), place) for p in wanted for place in {os.path.realpath(p), p}]
    kept: list[Bind] = []
    for bind in sorted(set(binds), key=lambda b: (b.target.count("/"), b.target)):
        through_link = any(_below(bind.target, link) for link in links)
        if not through_link and not any(_below(bind.target, k.target) for k in kept):
            kept.append(bind)
    return tuple(kept)


def _shown(path: str, binds: Iterable[Bind]) -> bool:
    return any(_below(path, b.target) for b in binds)


def _below(path: str, ancestor: str) -> bool:
    return path == ancestor or path.startswith(ancestor + "/")
