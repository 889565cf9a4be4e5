"""Judging the problem itself: whether what is accepted on it could only come from computing it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from evaluator.evaluation import InvalidProblem
from evaluator.judge.cases import Case, hidden
from evaluator.judge.faults import Fault
from evaluator.judge.findings import Finding, ProblemReport, Subject
from evaluator.judge.influence import inputs_matter
from evaluator.judge.repeatability import reproducible
from evaluator.judge.seeds import Seeds
from evaluator.judge.variation import outputs_vary
from evaluator.judge.weights import has_weights, weights_matter
from evaluator.judge.workbench import Workbench

POINTS = 4


def check_problem(bench: Callable[[], Workbench]) -> ProblemReport:
    """Judge a problem. What the reference does wrong is a finding, never an exception."""
    findings: list[Finding] = []
    try:
        workbench = bench()
        findings.append(Finding("runs", True, f"on {len(workbench.cases)} workload(s)"))
        for finding in _findings(workbench):
            findings.append(finding)  # one by one: those before a failure are kept
    except InvalidProblem as e:
        findings.append(Finding("runs", False, str(e)))
    return ProblemReport(tuple(findings))


def require_sound(workbench: Workbench) -> None:
    """Raises InvalidProblem where a workload fails a finding."""
    for finding in _findings(workbench):
        if not finding.passed:
            raise InvalidProblem(f"{finding.name}: {finding.detail}")


def _findings(bench: Workbench) -> Iterator[Finding]:
    for case in bench.cases:
        yield from _case(bench, case)
    yield _envelope(bench)


def _envelope(bench: Workbench) -> Finding:
    """Whether the reference computes other points of the envelope, as candidates must."""
    seeds = Seeds()
    points = hidden(bench.contract, random.Random(seeds.next("hidden")), POINTS)
    for case in points:
        try:
            bench.admit(case, seeds)
            bench.fresh_round(case, seeds)
            bench.dismiss(case)
        except InvalidProblem as e:
            return Finding(
                "runs throughout",
                False,
                f"at {case.name.removeprefix('hidden ')}: {e}; declare only sizes that it can compute, or mend it",
            )
    return Finding("runs throughout", True, f"at {len(points)} more points of the envelope")


def _case(bench: Workbench, case: Case) -> Iterator[Finding]:
    """Every finding about a workload, one after another. Raises InvalidProblem where the reference fails."""
    subject = Subject(bench, case)
    yield Finding(f"finite on {case.name}", True, "all outputs are finite")
    try:
        repeats = reproducible(subject)
        yield repeats
        if not repeats.passed:
            return  # nothing else can be told of it
        yield from outputs_vary(subject)
        yield inputs_matter(subject)
        if has_weights(bench.oracle.state[case.key]):
            yield weights_matter(subject)
    except Fault as e:
        raise bench.invalid(e) from None
