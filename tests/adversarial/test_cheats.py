"""Every cheat gets the verdict it deserves, and leaves the judge able to accept an honest candidate."""

import pytest

from evaluator.judge.defences import Defences

pytestmark = [pytest.mark.judge, pytest.mark.slow]

GAINS_NOTHING = 1.2
TRIES = 3


def policy_for(cheat):
    """`screen` where its gates are enough."""
    return "search" if cheat.defence in ("hidden", "numerics") else "screen"


def test_verdict(cheat, court, honest_on):
    evaluation = court.evaluate(cheat, policy_for(cheat))
    assert evaluation.verdict in cheat.verdicts, evaluation.reason
    if evaluation.timing is not None:
        assert evaluation.timing.speedup.value < GAINS_NOTHING
    assert court.evaluate(honest_on[cheat.problem], "screen").verdict == "accepted"


def test_wins_without_its_defence(winner, court):
    """Once is enough: who has several tries wins when one of them does."""
    off = winner.defence if hasattr(Defences(), winner.defence) else ""
    for _ in range(TRIES):
        evaluation = court.evaluate(winner, "screen", off)
        if evaluation.timing is not None and evaluation.timing.speedup.value >= winner.gain:
            break
    assert evaluation.verdict == "accepted", evaluation.reason
    assert evaluation.timing.speedup.value >= winner.gain
    if off:
        assert not evaluation.promotable
        assert evaluation.machine["defences_off"] == [off, "quiet_samples"]
