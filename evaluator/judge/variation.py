"""Whether the outputs tell right from wrong: who knows them before the inputs, or computes a part, must fail.

Asked of every output by itself, except those that the contract lets be constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch

from evaluator.harness.tensors import DTYPES
from evaluator.judge.arena import Input
from evaluator.judge.findings import Finding, Subject
from evaluator.judge.numerics import Truth, Yardstick, rms_bound

NAMED = 4
LARGEST_ERROR = 0.1
"""The RMS error allowed may be so large a part of an output's RMS; who answers zeros is off by the whole."""


def outputs_vary(subject: Subject) -> Iterator[Finding]:
    """Every finding about the outputs of a workload."""
    yield errors_show(subject)
    judged = [n for n in subject.outputs if not may_be_constant(subject, n)]
    yield _each(subject, "zeros fail", judged, _zeros_pass)
    yield _each(subject, "a constant fails", judged, _constant_passes)
    yield _each(subject, "stale memory fails", judged, _stale_passes)
    yield _each(subject, "outputs vary", judged, _slice_passes)


def may_be_constant(subject: Subject, output: int) -> bool:
    """Whether the contract says that an output may have the same value everywhere or always."""
    contract = subject.bench.contract
    declared = contract.outputs or ()
    return output < len(declared) and declared[output].name in contract.may_be_constant


def errors_show(subject: Subject) -> Finding:
    """Whether the error that is allowed is small beside the outputs themselves."""
    name = f"errors show on {subject.case.name}"
    accuracy = subject.bench.contract.accuracy
    for round_ in subject.rounds:
        for number, (t, own) in enumerate(zip(round_.truths, round_.own, strict=True)):
            if t.yardstick is Yardstick.EXACT:
                continue
            share = rms_bound(replace(t, scale=1.0), own, accuracy)
            if share > LARGEST_ERROR:
                return Finding(
                    name,
                    False,
                    f"an RMS error of {share:.2g} times {subject.output_name(number)} would be allowed: choose "
                    "inputs of which less cancels, a wider dtype, or a smaller `accuracy.ratio`",
                )
    return Finding(name, True, "the error allowed is small beside the outputs")


def _each(subject: Subject, name: str, judged: list[int], passes: Callable[[Subject, int], str]) -> Finding:
    reasons = [text for n in judged if (text := passes(subject, n))]
    return Finding(f"{name} on {subject.case.name}", not reasons, "; ".join(reasons) or "as it should be")


def _zeros_pass(subject: Subject, output: int) -> str:
    zeros = torch.zeros_like(subject.rounds[0].truths[output].values)
    return _told(subject, output, "zeros pass as", zeros)


def _constant_passes(subject: Subject, output: int) -> str:
    return _told(subject, output, "a constant passes as", _typical(subject.rounds[0].truths[output].values))


def _told(subject: Subject, output: int, text: str, fake: torch.Tensor) -> str:
    if not subject.too_often(output, lambda i: fake):
        return ""
    return f"{text} {subject.output_name(output)}: choose inputs whose outputs vary{_weights_hint(subject)}"


def _typical(truth: torch.Tensor) -> torch.Tensor:
    if not truth.numel():
        return truth
    if truth.is_floating_point():
        return torch.full_like(truth, float(truth.mean()))
    return torch.full_like(truth, truth.reshape(-1).mode().values.item())


def _weights_hint(subject: Subject) -> str:
    names = subject.bench.oracle.state[subject.case.key].constants()
    return f", and initialise weights that are all equal ({', '.join(names[:NAMED])})" if names else ""


def _stale_passes(subject: Subject, output: int) -> str:
    """Whether what lies in memory anyway is an answer: that of an earlier call, or an input as it was."""
    name = subject.output_name(output)
    if subject.too_often(output, lambda i: subject.rounds[i - 1].truths[output].values):
        return (
            f"the answer to other inputs passes as {name}: it depends on them by less than the error allowed"
        )
    for number in _untouched(subject, output):
        if subject.too_often(output, partial(_as_it_came, subject, output, number)):
            return f"{subject.input_name(number)} as it came passes as {name}: there is nothing to compute"
    return ""


def _untouched(subject: Subject, output: int) -> list[int]:
    """Inputs that may pass as an output as they came: the one that is to be changed; for a result, where it need not
    outlive the inputs, each of its size."""
    oracle, round_ = subject.bench.oracle, subject.rounds[0]
    returned = len(oracle.known[subject.case.name].outputs)
    if output >= returned:
        return [oracle.mutable()[output - returned]]
    truth = round_.truths[output]
    return [i for i, v in enumerate(round_.inputs) if round_.reuses and _fits(v, truth)]


def _fits(value: Input, truth: Truth) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.numel() == truth.values.numel()
        and value.dtype == DTYPES[truth.spec.dtype]
    )


def _as_it_came(subject: Subject, output: int, number: int, i: int) -> torch.Tensor:
    value = subject.rounds[i].inputs[number]
    assert isinstance(value, torch.Tensor)
    return value.reshape(subject.rounds[i].truths[output].values.shape)


def _slice_passes(subject: Subject, output: int) -> str:
    shape = subject.rounds[0].truths[output].values.shape
    for dim in (d for d, n in enumerate(shape) if n > 1):
        if subject.too_often(output, partial(_repeated, subject, output, dim)):
            return (
                f"{subject.output_name(output)} is the same all along dimension {dim}, so that a slice of it is "
                "enough: choose inputs that differ along it, return the slice, or name it in `may_be_constant`"
            )
    return ""


def _repeated(subject: Subject, output: int, dim: int, i: int) -> torch.Tensor:
    values = subject.rounds[i].truths[output].values
    return values.narrow(dim, 0, 1).expand_as(values)
