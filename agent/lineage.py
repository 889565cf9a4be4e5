"""Which attempt came from which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.api import Attempt


def parents(attempts: Sequence[Attempt]) -> Mapping[int, tuple[int, ...]]:
    """Attempt → the attempts it was made from, by number; those that were made from none are left out."""
    numbers = {a.proposal.candidate.digest: a.number for a in attempts}
    found = {a.number: tuple(numbers[p] for p in a.proposal.parents if p in numbers) for a in attempts}
    return {number: origin for number, origin in found.items() if origin}


def ancestry(attempts: Sequence[Attempt], number: int) -> Sequence[int]:
    """The attempt and all it goes back to, oldest first."""
    known = parents(attempts)
    found: set[int] = set()
    waiting = [number]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(known.get(one, ()))
    return sorted(found)
