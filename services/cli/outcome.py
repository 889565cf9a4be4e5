"""What became of a job: on the terminal, as JSON, as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from agent.api import Attempt, AttemptState, Job, JobState
from agent.confirmation import confirmed, sure_gain
from agent.lineage import ancestry
from agent.selection import best
from evaluator.canonical import plain
from evaluator.evaluation import Evaluation
from services.cli import render
from services.cli.failures import FOUND, NOT_FOUND, OUR_FAULT, WRONG_USE
from services.cli.output import Output
from services.db.jobs import JobRecord
from services.db.store import SqlStore
from services.errors import UsageError
from services.report.render import render_report
from services.standing import sentence
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
    def confirmed(self) -> Attempt | None:
        """The attempt whose gain was borne out by a confirmation."""
        return confirmed(self.attempts, self.job.problem.contract.floor)

    @property
    def best(self) -> Attempt | None:
        """What was confirmed, else the best of what looked like a find, else the best accepted."""
        floor = self.job.problem.contract.floor
        finds = [a for a in self.attempts if a.evaluation and a.evaluation.found_something(floor)]
        return self.confirmed or best(finds) or best(self.attempts)


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
    if outcome.confirmed:
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
        "found": outcome.confirmed is not None,
        "best": _best(outcome),
        "attempts": {"total": len(outcome.attempts), "states": dict(states), "verdicts": dict(verdicts)},
        "seconds_used": job.seconds_used,
        "report": str(report),
    }


def _best(outcome: Outcome) -> dict[str, object] | None:
    attempt = outcome.best
    if attempt is None or attempt.evaluation is None or attempt.evaluation.timing is None:
        return None
    judged = attempt.confirmation or attempt.evaluation
    return {
        "attempt": attempt.number,
        "candidate": attempt.proposal.candidate.digest,
        "proposer": attempt.proposal.proposer,
        "parameters": plain(dict(attempt.proposal.parameters)),
        "speedup": _speedup(judged),
        "baseline": judged.timing.baseline if judged.timing else None,
        "searched": _speedup(attempt.evaluation),
        "confirmation": _confirmation(attempt, outcome),
        "lineage": list(ancestry(outcome.attempts, attempt.number)),
        "promotable": outcome.confirmed is not None and judged.promotable,
    }


def _confirmation(attempt: Attempt, outcome: Outcome) -> dict[str, object] | None:
    made = attempt.confirmation
    if made is None:
        return None
    return {
        "held": outcome.confirmed is not None,
        "verdict": made.verdict.value,
        "reason": made.reason,
        "speedup": _speedup(made),
        "low_corrected": sure_gain(made.timing.speedup) if made.timing else None,
    }


def _speedup(judged: Evaluation) -> object:
    return plain(judged.timing.speedup) if judged.timing else None


def _show(out: Output, outcome: Outcome, report: Path) -> None:
    console = render.console(out.as_json)
    job, top = outcome.job, outcome.best
    floor = job.problem.contract.floor
    if outcome.attempts:
        console.print(render.attempts(outcome.attempts, outcome.reasons, top, floor, console.width))
    judged = (top.confirmation or top.evaluation) if top is not None else None
    if top is not None and judged is not None and judged.timing is not None:
        how = "as confirmed" if top.confirmation else "as searched"
        console.print(Text(f"\nBest: attempt {top.number}, {how}", style="bold"))
        console.print(render.times(judged.timing))
    console.print(Text(sentence(outcome.attempts, top, floor)))
    console.print(Text(f"job {job.id} {job.state.value}: {line(job.reason, 400)}"), soft_wrap=True)
    console.print(Text(f"report: {report}"), soft_wrap=True)
    if job.state in (JobState.STOPPED, JobState.RUNNING):
        console.print(Text(f"go on with: kernelwright resume {job.id}"), soft_wrap=True)
