"""Whether an answered call was right: wrong, late, replayed or damaging, and what each switch lets through."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from evaluator.evaluation import Verdict
from evaluator.harness.wire import Outcome
from evaluator.judge.arena import TensorSpec
from evaluator.judge.client import Released
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import own_error, truth
from evaluator.judge.oracle import Round
from evaluator.judge.seat import Answer
from evaluator.judge.verifier import Verifier
from evaluator.problem.contract import Accuracy

SPEC = TensorSpec((256,), (1,), "float32")
INDICES = torch.arange(0, 256, 8)


def round_of(seed: int, reuses: bool = False) -> Round:
    """Squares of secret values; their sample is every eighth element."""
    x = torch.randn(256, generator=torch.Generator().manual_seed(seed))
    native = x * x
    found = truth(SPEC, native, x.double() ** 2)
    return Round([x], (found,), (own_error(found, native),), (INDICES,), (native,), reuses)


def flags(seed: int) -> Round:
    """A single bool."""
    native = torch.tensor([seed % 2 == 0])
    found = truth(TensorSpec((1,), (1,), "bool"), native, None)
    return Round([], (found,), (own_error(found, native),), (torch.tensor([0]),), (native,))


def answer_of(
    values: torch.Tensor, sampled: torch.Tensor | None = None, damage: str = "", reused: str = ""
) -> Answer:
    early = values[INDICES] if sampled is None else sampled
    return Answer(Released(1, Outcome(()), [], False), (values,), (early,), damage, reused)


def right(round_: Round, **changes) -> Answer:
    return answer_of(round_.truths[0].values.float(), **changes)


@pytest.fixture
def verifier() -> Verifier:
    return Verifier(Accuracy(), Defences())


def test_right_answers_pass_and_are_counted(verifier):
    for seed in range(6):
        verifier.verify("w", round_of(seed), right(round_of(seed)))
    verifier.fail_on_damage()
    assert verifier.calls == 6
    assert 0 < verifier.largest <= 1
    assert 0 < verifier.rms <= 1


def test_a_wrong_answer_names_the_output_and_how_wrong_it_is(verifier):
    round_ = round_of(1)
    values = round_.truths[0].values.float()
    values[5] += 1
    with pytest.raises(Fault, match="output 0: 1 of 256 elements are further off than allowed") as fault:
        verifier.verify("w", round_, answer_of(values))
    assert fault.value.verdict is Verdict.INCORRECT
    assert verifier.largest > 1


def test_an_answer_that_was_right_only_after_the_clock_is_a_cheat(verifier):
    round_ = round_of(1)
    early = torch.full((INDICES.numel(),), float("nan"))
    with pytest.raises(Fault, match="said it was done before it was") as fault:
        verifier.verify("w", round_, right(round_, sampled=early))
    assert fault.value.verdict is Verdict.INTEGRITY


def test_one_late_element_of_the_sample_is_enough(verifier):
    round_ = round_of(1)
    early = round_.truths[0].values.float()[INDICES]
    early[3] = 0
    with pytest.raises(Fault, match="said it was done"):
        verifier.verify("w", round_, right(round_, sampled=early))


def test_an_earlier_answer_played_again_is_a_cheat_but_only_on_its_own_workload(verifier):
    first, second = round_of(1), round_of(2)
    verifier.verify("w", first, right(first))
    with pytest.raises(Fault, match="further off") as fault:
        verifier.verify("v", second, right(first))
    assert fault.value.verdict is Verdict.INCORRECT
    with pytest.raises(Fault, match="the answer of an earlier call") as fault:
        verifier.verify("w", second, right(first))
    assert fault.value.verdict is Verdict.INTEGRITY


def test_a_replay_of_slightly_rounded_values_is_still_one(verifier):
    first, second = round_of(1), round_of(2)
    verifier.verify("w", first, right(first))
    with pytest.raises(Fault, match="the answer of an earlier call"):
        verifier.verify("w", second, answer_of(first.truths[0].values.float() * (1 + 2e-5)))


def test_a_single_wrong_bool_is_no_replay(verifier):
    yes, no = flags(2), flags(3)
    sampled = torch.tensor([True])
    verifier.verify("w", yes, answer_of(torch.tensor([True]), sampled))
    with pytest.raises(Fault, match="1 of 1 elements differ") as fault:
        verifier.verify("w", no, answer_of(torch.tensor([True]), sampled))
    assert fault.value.verdict is Verdict.INCORRECT


def test_damage_is_kept_for_its_gate(verifier):
    round_ = round_of(1)
    verifier.verify("w", round_, right(round_, damage="input 0 was changed"))
    verifier.verify("w", round_of(2), right(round_of(2)))
    with pytest.raises(Fault, match="input 0 was changed") as fault:
        verifier.fail_on_damage()
    assert fault.value.verdict is Verdict.INCORRECT


def test_an_overwritten_result_is_damage_unless_the_reference_does_the_same(verifier):
    verifier.verify("w", round_of(1, reuses=True), right(round_of(1), reused="overwritten"))
    verifier.fail_on_damage()
    verifier.verify("w", round_of(2), right(round_of(2), reused="overwritten"))
    with pytest.raises(Fault, match="overwritten"):
        verifier.fail_on_damage()


def test_each_switch_lets_its_own_kind_of_damage_through():
    noticed = {"nothing_else_written": {"damage": "d"}, "results_stay": {"reused": "r"}}
    for name, changes in noticed.items():
        for off in noticed:
            verifier = Verifier(Accuracy(), replace(Defences(), **{off: False}))
            verifier.verify("w", round_of(1), right(round_of(1), **changes))
            assert bool(verifier.damages) == (name != off)


def test_the_accuracy_given_decides():
    round_ = round_of(1)
    coarse = answer_of(round_.truths[0].values.half().float())
    with pytest.raises(Fault):
        Verifier(Accuracy(), Defences()).verify("w", round_, coarse)
    Verifier(Accuracy(1e5, 1e5), Defences()).verify("w", round_, coarse)
