"""Confirming a find: the best of many is judged once more, apart from the judgement that made it the best.

Among many candidates the one that looks fastest owes part of its lead to luck. Its second judgement was not
selected on: another secret plan, fresh processes on both sides, the policy `confirm`. Only what holds there is a
find (docs/decisions/0015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agent.api import MAX_TRIES, Attempt
from agent.selection import ranked
from evaluator.evaluation import Evaluation, Interval

POLICY = "confirm"

MOST = 3
"""Attempts of a job that are confirmed at most. Fixed in advance, because the rule below corrects for it."""

WIDER = 2.394 / 1.960
"""How much wider, on a log scale, an interval must be so that `MOST` of them together keep the 95 % of one: the
normal quantiles at 1 - 0.05 / (2 * MOST) and at 0.975 (Bonferroni)."""

COST = 1.25
"""A confirmation's time over that of the longest evaluation so far, which started the baselines, as it does too."""


def sure_gain(speedup: Interval) -> float:
    """The lower end of a confirmation's speedup, corrected for the `MOST` that a job may make."""
    return math.exp(math.log(speedup.value) - WIDER * math.log(speedup.value / speedup.low))


def holds(confirmation: Evaluation, floor: float) -> bool:
    """Whether a confirmation bears out that something was found."""
    if confirmation.timing is None or not confirmation.found_something(floor):
        return False
    return sure_gain(confirmation.timing.speedup) > 1.0


def is_confirmed(attempt: Attempt, floor: float) -> bool:
    """Whether the attempt was confirmed, and held."""
    return attempt.confirmation is not None and holds(attempt.confirmation, floor)


def confirmed(attempts: Sequence[Attempt], floor: float) -> Attempt | None:
    """The attempt that was borne out, or None; the surest gain where a job that was resumed has several."""
    borne_out = [a for a in attempts if is_confirmed(a, floor)]
    return max(borne_out, key=_gain, default=None)


def to_confirm(attempts: Sequence[Attempt], floor: float) -> Attempt | None:
    """The best that still wants confirming; None where one at least as good was borne out, or `MOST` were not."""
    begun = sum(a.confirmation_tries > 0 for a in attempts)
    for attempt in ranked(attempts):
        if is_confirmed(attempt, floor):
            return None
        if _is_open(attempt, floor) and (begun < MOST or attempt.confirmation_tries > 0):
            return attempt
    return None


def reserve(attempts: Sequence[Attempt], floor: float) -> float:
    """Seconds of a job's budget to be kept for the next confirmation; 0 where there is nothing to confirm."""
    if to_confirm(attempts, floor) is None:
        return 0.0
    return COST * max(sum(a.evaluation.stages.values()) for a in attempts if a.evaluation is not None)


def _is_open(attempt: Attempt, floor: float) -> bool:
    """Whether it looks like a find, and its confirmation neither was made nor failed on the machine too often."""
    judged = attempt.evaluation
    found = judged is not None and judged.found_something(floor)
    return found and attempt.confirmation is None and attempt.confirmation_tries < MAX_TRIES


def _gain(attempt: Attempt) -> float:
    assert attempt.confirmation is not None
    assert attempt.confirmation.timing is not None
    return attempt.confirmation.timing.speedup.low
