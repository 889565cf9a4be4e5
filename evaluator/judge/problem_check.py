"""Judging the problem itself: it runs, is finite and reproducible, and neither zeros nor a constant pass for it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from evaluator.evaluation import InvalidProblem
from evaluator.judge.cases import Case
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import Truth, compare
from evaluator.judge.oracle import Round
from evaluator.judge.seeds import Seeds
from evaluator.judge.workbench import Workbench

ROUNDS = 3


@dataclass(frozen=True)
class Finding:
    """One question about a problem, and its answer in words."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class ProblemReport:
    """Whether a problem can be judged: every finding passed."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the problem is sound."""
        return all(f.passed for f in self.findings)


def check_problem(bench: Callable[[], Workbench]) -> ProblemReport:
    """Judge a problem. What the reference does wrong is a finding, never an exception."""
    findings: list[Finding] = []
    try:
        workbench = bench()
        findings.append(Finding("runs", True, f"on {len(workbench.cases)} workload(s)"))
        for case in workbench.cases:
            findings += _case(workbench, case)
    except InvalidProblem as e:
        findings.append(Finding("runs", False, str(e)))
    return ProblemReport(tuple(findings))


def require_sound(workbench: Workbench) -> None:
    """Raises InvalidProblem where a workload fails a finding."""
    for case in workbench.cases:
        for finding in _case(workbench, case):
            if not finding.passed:
                raise InvalidProblem(f"{finding.name}: {finding.detail}")


def _case(bench: Workbench, case: Case) -> Iterator[Finding]:
    seeds = Seeds()
    rounds = [_round(bench, case, seeds) for _ in range(ROUNDS)]
    yield Finding(f"finite on {case.name}", True, "all outputs are finite")
    yield _reproducible(bench, case, rounds[0])
    zeros = [torch.zeros_like(t.values) for t in rounds[0].truths]
    yield _against(f"zeros fail on {case.name}", bench, rounds[1:], zeros, "zeros pass as an answer")
    means = [_mean(t.values) for t in rounds[0].truths]
    yield _against(
        f"a constant fails on {case.name}", bench, rounds[1:], means, "a constant passes as an answer"
    )
    yield _against_earlier(case, bench, rounds)


def _round(bench: Workbench, case: Case, seeds: Seeds) -> Round:
    round_ = bench.fresh_round(case, seeds)
    assert round_ is not None
    return round_


def _reproducible(bench: Workbench, case: Case, round_: Round) -> Finding:
    name = f"reproducible on {case.name}"
    try:
        again = [bench.oracle.answer(case, round_.inputs).outputs for _ in range(2)]
    except Fault as e:
        raise bench.invalid(e) from None
    if all(torch.equal(a, b) for a, b in zip(*again, strict=True)):
        return Finding(name, True, "equal inputs give equal outputs")
    hint = (
        "random operations (dropout in training mode) are not supported yet; make the reference deterministic"
    )
    return Finding(name, False, f"the same inputs gave different outputs: {hint}")


def _mean(truth: torch.Tensor) -> torch.Tensor:
    if truth.is_floating_point():
        return torch.full_like(truth, float(truth.mean()))
    return torch.full_like(truth, truth.reshape(-1).mode().values.item())


def _passes(bench: Workbench, truths: tuple[Truth, ...], round_: Round, fake: list[torch.Tensor]) -> bool:
    rows = zip(fake, truths, round_.own, strict=True)
    return all(not compare(f, t, o, bench.contract.accuracy).reason for f, t, o in rows)


def _against(
    name: str, bench: Workbench, rounds: list[Round], fake: list[torch.Tensor], text: str
) -> Finding:
    """Whether an answer that is known before the inputs are would pass in any round."""
    if any(_passes(bench, r.truths, r, fake) for r in rounds):
        return Finding(name, False, f"{text}: choose inputs whose outputs vary")
    return Finding(name, True, "as it should be")


def _against_earlier(case: Case, bench: Workbench, rounds: list[Round]) -> Finding:
    """Whether the answer to other inputs would pass: then the inputs do not matter."""
    name = f"inputs matter on {case.name}"
    for before, after in itertools.pairwise(rounds):
        if _passes(bench, after.truths, after, [t.values for t in before.truths]):
            return Finding(
                name, False, "the answer to other inputs passes: the outputs do not depend on the inputs"
            )
    return Finding(name, True, "other inputs give other outputs")
