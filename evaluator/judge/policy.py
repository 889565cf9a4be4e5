"""Policies: named sets of mandatory gates, and how much each gate does. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.evaluation import Gate


@dataclass(frozen=True)
class Policy:
    """What must pass, and the plan, fixed before a candidate is seen.

    rounds: fresh sets per visible workload; hidden_cases: other shapes drawn from the envelope; restarts: runners
    in which time is taken; pairs: alternated calls per restart and workload, fewer (never under `least_pairs`)
    where `seconds_per_workload` would not be enough; warm_ups: untimed verified calls before them; fresh: reference
    and baselines are started anew, too.
    """

    name: str
    mandatory: frozenset[Gate]
    rounds: int = 3
    hidden_cases: int = 3
    restarts: int = 3
    pairs: int = 12
    least_pairs: int = 5
    warm_ups: int = 3
    seconds_per_workload: float = 8.0
    fresh: bool = False


_SCREEN = frozenset({Gate.PARSE, Gate.BUILD, Gate.VISIBLE, Gate.MEMORY, Gate.TIME})
_SEARCH = _SCREEN | {Gate.HIDDEN, Gate.NUMERICS}

POLICIES = {
    p.name: p
    for p in (
        Policy("screen", _SCREEN, rounds=2, pairs=6, seconds_per_workload=3.0),
        Policy("search", _SEARCH),
        Policy("confirm", _SEARCH, restarts=5, fresh=True),
        Policy(
            "qualify",
            frozenset(Gate),
            rounds=5,
            hidden_cases=6,
            restarts=5,
            pairs=20,
            seconds_per_workload=30.0,
        ),
    )
}


def policy(name: str) -> Policy:
    """The policy of that name. Raises ValueError that lists the names there are."""
    try:
        return POLICIES[name]
    except KeyError:
        raise ValueError(f"there is no policy {name!r}; choose one of {', '.join(POLICIES)}") from None
