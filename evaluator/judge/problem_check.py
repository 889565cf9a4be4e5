"""Judging the problem itself: whether what is accepted on it could only come from computing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evaluator.evaluation import InvalidProblem
from evaluator.judge.cases import Case
from evaluator.judge.faults import Fault
from evaluator.judge.findings import Finding, ProblemReport, Subject
from evaluator.judge.influence import inputs_matter
from evaluator.judge.repeatability import reproducible
from evaluator.judge.variation import outputs_vary
from evaluator.judge.weights import has_weights, weights_matter
from evaluator.judge.workbench import Workbench


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
    """Every finding about a workload, one after another. Raises InvalidProblem where the reference fails."""
    subject = Subject(bench, case)
    yield Finding(f"finite on {case.name}", True, "all outputs are finite")
    try:
        yield reproducible(subject)
        yield from outputs_vary(subject)
        yield inputs_matter(subject)
        if has_weights(bench.oracle.state[case.key]):
            yield weights_matter(subject)
    except Fault as e:
        raise bench.invalid(e) from None
