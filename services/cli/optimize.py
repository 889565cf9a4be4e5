"""`kernelwright optimize PROBLEM`, `resume JOB` and `report JOB`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.api import Budget, Job
from evaluator.evaluation import InvalidProblem
from evaluator.problem.contract import Problem
from services.cli.inputs import read_problem
from services.cli.interrupts import Interrupts
from services.cli.outcome import read_outcome, show_outcome
from services.cli.output import Output
from services.cli.progress import Progress, open_progress
from services.cli.sitting import Sitting, choose
from services.joblock import job_lock
from services.text import line
from services.workshop import Evaluator, Workshop


def optimize(
    workshop: Workshop,
    out: Output,
    path: Path,
    assignments: Sequence[str],
    proposers: Sequence[str] | None,
    report: Path | None,
) -> int:
    """Check the problem, make a job of it, work on it to its end; 0 when something was found."""
    problem = read_problem(path, assignments)
    choose(workshop.proposers(), proposers)
    store = workshop.store()
    with (
        Interrupts() as interrupts,
        open_progress() as progress,
        workshop.evaluator(progress.say) as evaluator,
    ):
        _require_valid(problem, evaluator, progress, interrupts)
        job = store.create(problem, workshop.settings.budget, proposers)
        progress.keep(f"job {job.id}; if this process dies, go on with: kernelwright resume {job.id}")
        _sit(workshop, job, evaluator, progress, interrupts)
    return show_outcome(out, read_outcome(store, job.id), _report(workshop, job.id, report))


def resume(
    workshop: Workshop,
    out: Output,
    job_id: str,
    evaluations: int | None,
    seconds: float | None,
    report: Path | None,
) -> int:
    """Go on with a job, under its old budget or a new one where given."""
    store = workshop.store()
    before = store.job(job_id)
    budget = Budget(evaluations or before.budget.evaluations, seconds or before.budget.seconds)
    with (
        Interrupts() as interrupts,
        open_progress() as progress,
        workshop.evaluator(progress.say) as evaluator,
    ):
        _sit(workshop, before, evaluator, progress, interrupts, budget)
    return show_outcome(out, read_outcome(store, job_id), _report(workshop, job_id, report))


def report_again(workshop: Workshop, out: Output, job_id: str, report: Path | None) -> int:
    """Write the report of a job as it stands."""
    outcome = read_outcome(workshop.store(), job_id)
    return show_outcome(out, outcome, _report(workshop, job_id, report))


def _sit(
    workshop: Workshop,
    job: Job,
    evaluator: Evaluator,
    progress: Progress,
    interrupts: Interrupts,
    budget: Budget | None = None,
) -> None:
    store = workshop.store()
    with job_lock(workshop.settings.locks, job.id):
        if budget is not None:
            job = store.reopen(job.id, budget)
        proposers = choose(workshop.proposers(), store.record_of(job.id).proposers)
        Sitting(store, evaluator, proposers, progress, interrupts).work(job)


def _require_valid(
    problem: Problem, evaluator: Evaluator, progress: Progress, interrupts: Interrupts
) -> None:
    progress.say("checking the problem")
    with interrupts.interruptible():
        report = evaluator.check(problem)
    if not report.ok:
        failed = "; ".join(f"{f.name}: {line(f.detail, 400)}" for f in report.findings if not f.passed)
        raise InvalidProblem(f"the problem cannot be judged: {failed}")


def _report(workshop: Workshop, job_id: str, given: Path | None) -> Path:
    return (given or workshop.settings.reports / f"{job_id}.html").absolute()
