"""User ids of their own for sandboxes, never shared between two that live."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sandbox.api import SandboxError
from sandbox.capabilities import CHOWN, SETGID, SETUID, SYS_ADMIN, has_rights

FIRST_UID = 200_000
SLOTS = 128
_LARGEST_PID = 1 << 22


class UidPool:
    """Hands out uids from a range that belongs to this process alone: FIRST_UID + pid * SLOTS + slot.

    Slots are used in turn, so a uid comes back as late as possible.
    """

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._next = 0

    def take(self) -> int:
        """A uid that no living sandbox has. Raises SandboxError when SLOTS are in use."""
        base = FIRST_UID + (os.getpid() % _LARGEST_PID) * SLOTS
        for step in range(SLOTS):
            uid = base + (self._next + step) % SLOTS
            if uid not in self._taken:
                self._next = (self._next + step + 1) % SLOTS
                self._taken.add(uid)
                return uid
        raise SandboxError(f"{SLOTS} sandboxes of this process are alive already")

    def give_back(self, uid: int) -> None:
        """The sandbox that had it is gone."""
        self._taken.discard(uid)


def may_choose_uids(needed: Iterable[int] = (CHOWN, SETGID, SETUID, SYS_ADMIN)) -> bool:
    """Whether this process is root with these capabilities, and the whole range is mapped in its user namespace."""
    if os.geteuid() != 0 or not has_rights(needed):
        return False
    last = FIRST_UID + (_LARGEST_PID + 1) * SLOTS
    for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
        first, _, count = (int(word) for word in line.split())
        if first <= FIRST_UID and last <= first + count:
            return True
    return False
