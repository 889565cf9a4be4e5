"""Which of the processes that a /proc shows belong to one sandbox. See `sandbox.procfs.Kin`.

A process can hide its uid from the owner of its folder in /proc (by executing a file that it may not read), but
neither from its status nor its parent from its stat.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from sandbox.api import SandboxError
from sandbox.procfs import parent_of, read

_UID = re.compile(rb"^Uid:\s+(\d+)", re.MULTILINE)
_LOOKS = 100


class Namespace:
    """The sandbox has a pid namespace and a /proc of its own; its first process is number 1."""

    def among(self, proc: int) -> Iterator[str]:
        """See `Kin`."""
        return (name for name in _numbers(proc) if name != "1")


class SameUid:
    """The sandbox has the host's /proc and a uid that no other process has."""

    def __init__(self, uid: int, first: int) -> None:
        self._uid = str(uid).encode()
        self._first = str(first)

    def among(self, proc: int) -> Iterator[str]:
        """See `Kin`."""
        return (name for name in _numbers(proc) if name != self._first and self._ours(name, proc))

    def _ours(self, name: str, proc: int) -> bool:
        found = _UID.search(read(f"{name}/status", proc) or b"")
        return found is not None and found[1] == self._uid


class Descendants:
    """The sandbox has nothing but a common ancestor, its keeper, to which those are given whose parents end."""

    def __init__(self, keeper: int, first: int) -> None:
        self._keeper = str(keeper)
        self._first = str(first)

    def among(self, proc: int) -> Iterator[str]:
        """See `Kin`. Raises SandboxError where parents vanish faster than they can be looked at."""
        for _ in range(_LOOKS):
            parents = _parents(proc)
            lines = {name: list(_ancestors(name, parents)) for name in parents}
            if all(line[-1] == "0" for line in lines.values()):
                ours = (name for name, line in lines.items() if self._keeper in line)
                return (name for name in ours if name != self._first)
        raise SandboxError("the processes of this host change too fast to be told apart")


def _numbers(proc: int) -> Iterator[str]:
    return (name for name in os.listdir(proc) if name.isdigit())


def _parents(proc: int) -> dict[str, str]:
    texts = ((name, read(f"{name}/stat", proc)) for name in _numbers(proc))
    return {name: parent_of(text) for name, text in texts if text}


def _ancestors(name: str, parents: Mapping[str, str]) -> Iterator[str]:
    """Parent, its parent and so on, up to one whose parent is not known."""
    seen = set()
    while name in parents and name not in seen:
        seen.add(name)
        name = parents[name]
        yield name
