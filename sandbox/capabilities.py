"""The capabilities of this process. See capabilities(7)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

CHOWN, KILL, SETGID, SETUID, SYS_PTRACE, SYS_ADMIN = 0, 5, 6, 7, 19, 21


def has_rights(capabilities: Iterable[int]) -> bool:
    """Whether all of them are in effect."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("CapEff:"):
            effective = int(line.split()[1], 16)
            return all(effective >> capability & 1 for capability in capabilities)
    return False
