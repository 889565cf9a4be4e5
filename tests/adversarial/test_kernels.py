"""Kernels that are wrong are refused, by the gate that their fault belongs to; honest ones are accepted."""

import pytest

from evaluator.evaluation import GateState

pytestmark = [pytest.mark.judge, pytest.mark.slow]

LATER = {"hidden", "numerics"}


def test_verdict(kernel, court, policies):
    evaluation = court.evaluate(kernel, policies.search)
    assert evaluation.verdict in kernel.verdicts, evaluation.reason
    if kernel.defence in {"visible", *LATER}:
        (failed,) = (g.value for g, r in evaluation.gates.items() if r.state is GateState.FAILED)
        assert failed in (LATER if kernel.defence in LATER else {"visible"})
