"""Every cheat gets the verdict it deserves, and leaves the judge able to accept an honest candidate."""

import pytest

from evaluator.judge.defences import Defences

pytestmark = [pytest.mark.judge, pytest.mark.slow]

GAINS_NOTHING = 1.2


def policy_for(cheat):
    """`screen` where its gates are enough."""
    return "search" if cheat.defence in ("hidden", "numerics") else "screen"


def test_verdict(cheat, court, honest):
    evaluation = court.evaluate(cheat, policy_for(cheat))
    assert evaluation.verdict in cheat.verdicts, evaluation.reason
    if evaluation.timing is not None:
        assert evaluation.timing.speedup.value < GAINS_NOTHING
    assert court.evaluate(honest, "screen").verdict == "accepted"


def test_wins_without_its_defence(winner, court):
    off = winner.defence if hasattr(Defences(), winner.defence) else ""
    evaluation = court.evaluate(winner, "screen", off)
    assert evaluation.verdict == "accepted", evaluation.reason
    assert evaluation.timing.speedup.value >= winner.gain
    if off:
        assert not evaluation.promotable
        assert evaluation.machine["defences_off"] == [off, "quiet_samples"]
