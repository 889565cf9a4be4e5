"""The rules of `sandbox.seccomp_rules` as the profile that a Docker engine takes: JSON text.

Process 1 of a container still has to reach the judge's socket and to take its cores and a user namespace, so what
that needs stays open here; it closes it by the kernel filter of `sandbox.seccomp` before foreign code arrives. All
other rules hold from the container's first instruction.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator

from sandbox import syscall_table
from sandbox.seccomp_rules import DENIED, POINTER, RULES, UNKNOWN, Match, Rule

NEEDED_AT_START = frozenset({"socket", "connect", "sched_setaffinity", "unshare", "prctl"})
"""Calls that are open in the profile."""
_ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}


def profile(machine: str) -> str:
    """The profile for a machine ("x86_64", "aarch64"). A foreign architecture kills."""
    denied = sorted(_there(set(DENIED) - NEEDED_AT_START, machine))
    entries = [_entry(denied, errno.EPERM), _entry(_there(UNKNOWN, machine), errno.ENOSYS)]
    for rule in RULES:
        if rule.call not in NEEDED_AT_START and _there([rule.call], machine):
            entries += [_entry([rule.call], rule.code, condition) for condition in _conditions(rule)]
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "architectures": [_ARCHITECTURES[machine]],
            "syscalls": entries,
        }
    )


def _there(names: Iterable[str], machine: str) -> list[str]:
    return [n for n in names if syscall_table.number(n, machine) is not None]


def _entry(names: list[str], code: int, condition: dict[str, object] | None = None) -> dict[str, object]:
    found: dict[str, object] = {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": code}
    return found if condition is None else found | {"args": [condition]}


def _conditions(rule: Rule) -> Iterator[dict[str, object]]:
    """Entries of a profile are alternatives: the call fails where one of these holds."""
    if rule.mask == POINTER:
        yield {"index": rule.argument, "value": rule.values[0], "op": "SCMP_CMP_NE"}
        return
    match rule.test:
        case Match.ANY_BIT:
            bits = [1 << n for n in range(32) if rule.values[0] >> n & 1]
            masked = [(bit, bit) for bit in bits]
        case Match.AMONG:
            masked = [(rule.mask, value) for value in rule.values]
        case Match.NOT_AMONG:
            masked = _others(rule)
    for mask, value in masked:
        yield {"index": rule.argument, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def _others(rule: Rule) -> list[tuple[int, int]]:
    """(mask, value) pairs that together match every word under the rule's mask but its values.

    There is no masked "not equal". A word differs from all values below 2**k where it has a bit from k on; what is
    left is counted out.
    """
    low = max(rule.values).bit_length()
    high = [(1 << n, 1 << n) for n in range(low, 32) if rule.mask >> n & 1]
    every = (1 << low) - 1
    return high + [(rule.mask & every, v) for v in range(1 << low) if v not in rule.values]
