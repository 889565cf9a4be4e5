"""Whether every input influences the outputs: another value of it alone must give another answer.

A candidate may leave out what never matters, and nothing that is judged would show it. Python numbers that are the
same in every call are taken for constants of the problem.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from evaluator.judge.arena import Input
from evaluator.judge.faults import Fault
from evaluator.judge.findings import Finding, Subject
from evaluator.judge.oracle import Round

TRIES = 8
DRAWS = 16


def inputs_matter(subject: Subject) -> Finding:
    """Whether each input matters that the contract does not let be ignored, or changed: what is only written to need
    not. Raises Fault where the reference ends.
    """
    contract = subject.bench.contract
    free = [f"`{name}`" for name in (*contract.may_ignore, *contract.mutates)]
    numbers = range(len(subject.rounds[0].inputs))
    reasons = [_reason(subject, n) for n in numbers if subject.input_name(n) not in free]
    found = "; ".join(r for r in reasons if r)
    return Finding(f"inputs matter on {subject.case.name}", not found, found or "each of them does")


def _reason(subject: Subject, number: int) -> str:
    """What is wrong with an input, or nothing."""
    name = subject.input_name(number)
    is_number = not isinstance(subject.rounds[0].inputs[number], torch.Tensor)
    others = list(_others(subject, number))
    if not others and is_number:
        return ""
    if not others:
        return (
            f"the input {name} is the same in every call, so a candidate may take it for granted: draw it anew, "
            "make it part of the reference, or name it in `may_ignore`"
        )
    if any(_differs(subject, round_, inputs, is_number) for round_, inputs in others):
        return ""
    return (
        f"the input {name} does not influence the outputs by more than the error allowed, so a candidate may leave it "
        "out: choose values for which it matters, leave it out of the reference, or name it in `may_ignore`"
    )


def _others(subject: Subject, number: int) -> Iterator[tuple[Round, list[Input]]]:
    """Rounds, and their inputs with another value of one of them."""
    oracle = subject.bench.oracle
    drawn = 0
    for attempt in range(DRAWS):
        round_ = subject.rounds[attempt % len(subject.rounds)]
        fresh = oracle.fresh(subject.case, subject.seeds.next("inputs"))[number]
        if not torch.equal(torch.as_tensor(fresh), torch.as_tensor(round_.inputs[number])):
            yield round_, [fresh if i == number else v for i, v in enumerate(round_.inputs)]
            drawn += 1
        if drawn == TRIES:
            return


def _differs(subject: Subject, round_: Round, inputs: list[Input], rebind: bool) -> bool:
    """Whether the answer to other inputs would be wrong for a round. What cannot be computed differs."""
    try:
        outputs = _answer(subject, inputs, rebind)
    except Fault:
        if subject.bench.oracle.seat.client.process.poll() is not None:
            raise
        return True
    return not all(subject.passes(n, actual, round_) for n, actual in enumerate(outputs))


def _answer(subject: Subject, inputs: list[Input], rebind: bool) -> tuple[torch.Tensor, ...]:
    """What the reference gives. Python numbers are part of a binding: another one needs a binding of its own."""
    oracle, case = subject.bench.oracle, subject.case
    if not rebind:
        return oracle.answer(case, inputs).outputs
    known, name = oracle.known[case.name], f"{case.name}/another number"
    oracle.seat.bind(name, case.key, inputs, known.inputs, known.outputs, oracle.mutable())
    try:
        return oracle.seat.call(name, inputs, (), warm_up=True).outputs
    finally:
        oracle.seat.release(name)
