"""Every cheat gets the verdict it deserves, and leaves the judge able to accept an honest candidate."""

import pytest

pytestmark = [pytest.mark.judge, pytest.mark.slow]

GAINS_NOTHING = 1.2
TRIES = 3


def test_verdict(cheat, court, policies, honest_on):
    policy = policies.search if cheat.defence in ("hidden", "numerics") else policies.screen
    evaluation = court.evaluate(cheat, policy, cheat.judged_by)
    assert evaluation.verdict in cheat.verdicts, evaluation.reason
    if evaluation.timing is not None:
        assert evaluation.timing.speedup.low < GAINS_NOTHING
    assert court.evaluate(honest_on[cheat.problem], policies.glance).verdict == "accepted"


def test_wins_without_its_defence(winner, court, policies):
    """Once is enough: who has several tries wins when one of them does."""
    for _ in range(TRIES):
        evaluation = court.evaluate(winner, policies.screen, winner.switch)
        if evaluation.timing is not None and evaluation.timing.speedup.value >= winner.gain:
            break
    assert evaluation.verdict == "accepted", evaluation.reason
    assert evaluation.timing.speedup.value >= winner.gain
    assert not evaluation.promotable
    assert set(evaluation.machine["defences_off"]) >= set(filter(None, [winner.switch]))
