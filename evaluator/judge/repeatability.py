"""Whether a reference gives the same outputs for the same inputs: now, after other calls, from a second instance."""

from __future__ import annotations

import contextlib

import torch

from evaluator.judge.faults import Fault
from evaluator.judge.findings import Finding, Subject
from evaluator.judge.twin import twin

RANDOM = ("rand", "bernoulli", "dropout", "multinomial", "normal_functional", "exponential")
"""Parts of the names of operations that draw random numbers."""
NAMED = 4


def reproducible(subject: Subject) -> Finding:
    """Whether outputs depend on inputs and weights alone. Raises Fault where the reference fails."""
    name = f"reproducible on {subject.case.name}"
    first = _answer(subject, 0)
    if not _equal(first, _answer(subject, 0)):
        return Finding(name, False, f"the same inputs gave different outputs: {_why_random(subject)}")
    _answer(subject, 1)
    if not _equal(first, _answer(subject, 0)):
        return Finding(
            name,
            False,
            "outputs depend on the calls before: the module keeps something that its calls change; pass it in as an "
            "input instead",
        )
    if not subject.bench.oracle.state[subject.case.key].names:
        return Finding(name, True, "equal inputs give equal outputs")
    return _second_instance(subject, name)


def _second_instance(subject: Subject, name: str) -> Finding:
    """Whether another instance with the same weights agrees, as a candidate's must."""
    with twin(subject) as other:
        other.give(subject.bench.oracle.state[subject.case.key])
        answers = [other.answer(subject.rounds[0]).outputs for _ in range(2)]
        changed = other.changed_by_calls()
    if not all(subject.passes(n, out, subject.rounds[0]) for given in answers for n, out in enumerate(given)):
        return Finding(
            name,
            False,
            "a second instance with the same weights gives other outputs: the constructor draws something that is not "
            "in the state dict; register it as a buffer, or draw it from torch's own generator",
        )
    return Finding(name, True, f"equal inputs give equal outputs{_kept(changed)}")


def _kept(changed: tuple[str, ...]) -> str:
    """A remark on state that calls change, as running statistics, without changing outputs."""
    if not changed:
        return ""
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return f"; calls change {', '.join(changed[:NAMED])}{more}, which is not judged"


def _answer(subject: Subject, number: int) -> tuple[torch.Tensor, ...]:
    return subject.bench.oracle.answer(subject.case, subject.rounds[number].inputs).outputs


def _equal(one: tuple[torch.Tensor, ...], other: tuple[torch.Tensor, ...]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def _why_random(subject: Subject) -> str:
    drawing = _random_operations(subject)
    if drawing:
        return (
            f"it draws random numbers ({', '.join(drawing)}), as dropout does in training mode; pass the numbers in as "
            "an input, set the rate to 0, or call eval() in the module's constructor"
        )
    return "make the reference deterministic: no random numbers, no clock, nothing left uninitialised"


def _random_operations(subject: Subject) -> list[str]:
    with contextlib.suppress(Fault, ValueError, RecursionError, KeyError, TypeError):
        graph = subject.bench.oracle.trace_data(subject.case)
        rows = graph["nodes"]
        assert isinstance(rows, list)
        operations = {str(row["op"]) for row in rows}
        return sorted(op for op in operations if any(part in op for part in RANDOM))
    return []
