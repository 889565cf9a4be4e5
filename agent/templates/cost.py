"""A lower bound on what a kernel costs: bytes to and from memory, and operations.

It orders proposals; it does not predict. The rates are those of a good machine, so that a real one is slower.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from agent.templates.expr import COSTLY
from agent.templates.lower import Output, Program
from agent.templates.plan import ITEM_BYTES, Plan

BANDWIDTH = 50e9
"""Bytes per second that all cores together move to and from memory."""

RATE = 100e9
"""Single-precision operations per second and core, in whole vectors."""

CACHE_BYTES = 1 << 20
"""What a core keeps close enough to read again for nothing."""

COSTLY_OPERATIONS = 12
"""Plain operations in one costly function."""


@dataclass(frozen=True)
class Cost:
    """Of one call, or several together."""

    bytes: float
    operations: float

    def seconds(self, threads: int) -> float:
        """The least time it takes with that many threads."""
        return max(self.bytes / BANDWIDTH, self.operations / (RATE * threads))

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.bytes + other.bytes, self.operations + other.operations)


NOTHING = Cost(0.0, 0.0)


def traffic(program: Program, sizes: tuple[int, ...], streamed: bool) -> float:
    """Bytes of every tensor that is read and of every output. One that is not stored past the cache is read before
    it is written, where it is too large to stay."""
    read = sum(math.prod(sizes[a] for a in leaf.axes) * ITEM_BYTES[leaf.dtype] for leaf in program.leaves)
    return float(read + sum(_written(o, sizes, streamed) for o in program.outputs))


def _written(output: Output, sizes: tuple[int, ...], streamed: bool) -> int:
    size = math.prod(sizes[a] for a in output.axes) * ITEM_BYTES[output.dtype]
    return size if streamed or size <= CACHE_BYTES else 2 * size


def operations(plan: Plan, number: int) -> int:
    """Plain operations that an expression stands for."""
    e = plan.exprs[number]
    if e.kind not in ("op", "reduce", "scan"):
        return 0
    return COSTLY_OPERATIONS if e.name in COSTLY else 1


def of_one_pass(plan: Plan, sizes: Iterable[tuple[int, ...]], streamed: bool, more: int = 0) -> Cost:
    """The cost of passes over spaces of these sizes that do everything once, and `more` operations per element."""
    made = more + sum(operations(plan, n) for n in range(len(plan.exprs)) if plan.wide[n])
    each = (Cost(traffic(plan.program, s, streamed), made * math.prod(s)) for s in sizes)
    return sum(each, NOTHING)


def of_passes(plan: Plan, sizes: tuple[int, ...], keep: str, streamed: bool) -> Cost:
    """The cost of a reduction's passes over a space of these sizes: operations made again where they are not kept,
    bytes read again where a row does not stay in a cache."""
    program, kept = plan.program, plan.kept(keep)
    volume = math.prod(sizes)
    made = sum(
        operations(plan, n)
        for p in range(1, plan.passes + 2)
        for n in plan.needed(p, kept)
        if kept.get(n, p) >= p
    )
    row = math.prod(sizes[a] for a in program.reduced) * 4 * max(1, len(plan.leaves) + len(kept))
    again = plan.passes * volume * 4 if row > CACHE_BYTES else 0
    return Cost(traffic(program, sizes, streamed) + again, volume * (made + plan.passes))
