"""What became of a job: on the terminal, as JSON, as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from agent.api import Attempt, AttemptState, Job, JobState
from agent.selection import best, found_something
from evaluator.canonical import plain
from services.cli import render
from services.cli.failures import FOUND, NOT_FOUND, OUR_FAULT, WRONG_USE
from services.cli.output import Output
from services.db.jobs import JobRecord
from services.db.store import SqlStore
from services.errors import UsageError
from services.report.render import render_report
from services.text import line


@dataclass(frozen=True)
class Outcome:
    """A job as it stands. `reasons`: why attempts were put back or abandoned, by number."""

    record: JobRecord
    attempts: Sequence[Attempt]
    reasons: Mapping[int, str]

    @property
    def job(self) -> Job:
        """The job."""
        return self.record.job

    @property
    def found(self) -> bool:
        """Whether something surely faster was found."""
        return found_something(self.attempts, self.job.problem.contract.floor)

    @property
    def best(self) -> Attempt | None:
        """The best of what counts as a find, else the best accepted."""
        floor = self.job.problem.contract.floor
        finds = [a for a in self.attempts if a.evaluation and a.evaluation.found_something(floor)]
        return best(finds) or best(self.attempts)


def read_outcome(store: SqlStore, job_id: str) -> Outcome:
    """Raises UnknownJob."""
    return Outcome(store.record_of(job_id), store.attempts(job_id), store.reasons(job_id))


def show_outcome(out: Output, outcome: Outcome, report: Path) -> int:
    """Write the report, show the table, print the object; the exit code."""
    write_report(report, outcome)
    _show(out, outcome, report)
    out.result(outcome_result(outcome, report))
    return _exit_code(outcome)


def _exit_code(outcome: Outcome) -> int:
    """A failed job is our fault where the machine kept failing, else its problem turned out to be invalid."""
    if outcome.found:
        return FOUND
    if outcome.job.state is not JobState.FAILED:
        return NOT_FOUND
    abandoned = any(a.state is AttemptState.ABANDONED for a in outcome.attempts)
    return OUR_FAULT if abandoned else WRONG_USE


def write_report(path: Path, outcome: Outcome) -> None:
    """Write the HTML. Raises UsageError where it cannot be written."""
    html = render_report(outcome.record, outcome.attempts, outcome.reasons, outcome.best)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    except OSError as e:
        raise UsageError(f"the report cannot be written to {path}: {e.strerror}; see --report") from e


def outcome_result(outcome: Outcome, report: Path) -> dict[str, object]:
    """The object that `--json` prints."""
    job = outcome.job
    verdicts = Counter(a.evaluation.verdict.value for a in outcome.attempts if a.evaluation)
    states = Counter(a.state.value for a in outcome.attempts)
    return {
        "job": job.id,
        "problem": job.problem.digest,
        "state": job.state.value,
        "reason": job.reason,
        "found": outcome.found,
        "best": _best(outcome.best),
        "attempts": {"total": len(outcome.attempts), "states": dict(states), "verdicts": dict(verdicts)},
        "seconds_used": job.seconds_used,
        "report": str(report),
    }


def _best(attempt: Attempt | None) -> dict[str, object] | None:
    if attempt is None or attempt.evaluation is None or attempt.evaluation.timing is None:
        return None
    timing = attempt.evaluation.timing
    return {
        "attempt": attempt.number,
        "candidate": attempt.proposal.candidate.digest,
        "proposer": attempt.proposal.proposer,
        "parameters": plain(dict(attempt.proposal.parameters)),
        "speedup": plain(timing.speedup),
        "baseline": timing.baseline,
        "promotable": attempt.evaluation.promotable,
    }


def _show(out: Output, outcome: Outcome, report: Path) -> None:
    console = render.console(out.as_json)
    job, top = outcome.job, outcome.best
    if outcome.attempts:
        console.print(render.attempts(outcome.attempts, outcome.reasons, top, console.width))
    if top is not None and top.evaluation is not None and top.evaluation.timing is not None:
        console.print(Text(f"\nBest: attempt {top.number}", style="bold"))
        console.print(render.times(top.evaluation.timing))
    console.print(Text("Something faster was found." if outcome.found else "Nothing better was found."))
    console.print(Text(f"job {job.id} {job.state.value}: {line(job.reason, 400)}"), soft_wrap=True)
    console.print(Text(f"report: {report}"), soft_wrap=True)
    if job.state in (JobState.STOPPED, JobState.RUNNING):
        console.print(Text(f"go on with: kernelwright resume {job.id}"), soft_wrap=True)
