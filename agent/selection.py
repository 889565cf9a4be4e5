"""Which attempt is the best so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.api import Attempt
from evaluator.evaluation import Evaluation, Verdict


def best(attempts: Iterable[Attempt]) -> Attempt | None:
    """The accepted attempt with the greatest lower bound of its speedup; ties by the mean, then the earliest."""
    accepted = [a for a in attempts if _accepted(a.evaluation)]
    return max(accepted, key=_rank, default=None)


def ranked(attempts: Iterable[Attempt]) -> Sequence[Attempt]:
    """Accepted attempts, best first."""
    return sorted((a for a in attempts if _accepted(a.evaluation)), key=_rank, reverse=True)


def _accepted(evaluation: Evaluation | None) -> bool:
    return evaluation is not None and evaluation.verdict is Verdict.ACCEPTED


def _rank(attempt: Attempt) -> tuple[float, float, int]:
    assert attempt.evaluation is not None
    assert attempt.evaluation.timing is not None
    speedup = attempt.evaluation.timing.speedup
    return speedup.low, speedup.value, -attempt.number
