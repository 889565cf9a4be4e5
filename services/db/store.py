"""The search's store in SQL. Every method is one transaction; events are written in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.api import Attempt, AttemptState, Budget, Job, JobState, Proposal
from evaluator.evaluation import Evaluation
from evaluator.problem.contract import Problem
from services.db.attempts import Attempts
from services.db.engine import Database
from services.db.events import Event, EventKind, Events
from services.db.jobs import JobRecord, Jobs
from services.db.models import AttemptRow

DIED = "the process that evaluated it ended"
BEING_JUDGED = (AttemptState.EVALUATING, AttemptState.CONFIRMING)


class SqlStore:
    """`agent.api.Store`, and what the command line needs besides.

    Safe to use from several processes at once: a writer holds the database (SQLite) or the job's row
    (PostgreSQL). An unknown job raises UnknownJob, which is a SearchError, an unknown attempt SearchError.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, problem: Problem, budget: Budget, proposers: Sequence[str] | None = None) -> Job:
        """A new job, RUNNING, using only the named proposers (None: all)."""
        with self._database.writing() as session:
            jobs = Jobs(session)
            job_id = jobs.create(problem, budget, proposers)
            Events(session).append(job_id, EventKind.JOB_CREATED, problem=problem.digest)
            return jobs.get(job_id).job

    def reopen(self, job_id: str, budget: Budget) -> Job:
        """The job, RUNNING again, under this budget."""
        with self._database.writing() as session:
            jobs = Jobs(session)
            row = jobs.locked(job_id)
            row.state, row.reason = JobState.RUNNING, ""
            row.budget_evaluations, row.budget_seconds = budget.evaluations, budget.seconds
            Events(session).append(job_id, EventKind.JOB_REOPENED)
            return jobs.get(job_id).job

    def record_of(self, job_id: str) -> JobRecord:
        """The job with its proposers and times."""
        with self._database.reading() as session:
            return Jobs(session).get(job_id)

    def events(self, job_id: str, after: int = 0) -> Sequence[Event]:
        """The job's events with a sequence above `after`, in order."""
        with self._database.reading() as session:
            return Events(session).after(job_id, after)

    def reasons(self, job_id: str) -> Mapping[int, str]:
        """Why attempts were put back or abandoned, by number; only those that were."""
        with self._database.reading() as session:
            return Attempts(session).reasons(job_id)

    def job(self, job_id: str) -> Job:
        """See `Store.job`."""
        return self.record_of(job_id).job

    def attempts(self, job_id: str) -> Sequence[Attempt]:
        """See `Store.attempts`."""
        with self._database.reading() as session:
            return Attempts(session).of(job_id)

    def add_proposal(self, job_id: str, proposal: Proposal) -> Attempt | None:
        """See `Store.add_proposal`."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            row = attempts.add(job_id, proposal)
            if row is None:
                return None
            Events(session).append(
                job_id, EventKind.PROPOSED, number=row.number, proposer=row.proposer, candidate=row.candidate
            )
            return attempts.read(row)

    def claim(self, job_id: str) -> Attempt | None:
        """See `Store.claim`. Of two processes that claim at once, each gets another attempt."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            row = attempts.oldest(job_id, AttemptState.PROPOSED)
            if row is None:
                return None
            attempts.claim(row)
            Events(session).append(job_id, EventKind.CLAIMED, number=row.number, tries=row.tries)
            return attempts.read(row)

    def record(self, job_id: str, number: int, evaluation: Evaluation) -> None:
        """See `Store.record`."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            row = attempts.row(job_id, number)
            if row.evaluation is not None:
                return
            attempts.record(row, evaluation)
            Events(session).append(
                job_id, EventKind.EVALUATED, number=number, verdict=evaluation.verdict.value
            )

    def claim_confirmation(self, job_id: str, number: int) -> Attempt | None:
        """See `Store.claim_confirmation`."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            row = attempts.row(job_id, number)
            if row.state is not AttemptState.EVALUATED:
                return None
            attempts.claim_confirmation(row)
            Events(session).append(job_id, EventKind.CONFIRMING, number=number, tries=row.confirmation_tries)
            return attempts.read(row)

    def confirm(self, job_id: str, number: int, confirmation: Evaluation) -> None:
        """See `Store.confirm`."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            row = attempts.row(job_id, number)
            if row.confirmation is not None:
                return
            attempts.confirm(row, confirmation)
            verdict = confirmation.verdict.value
            Events(session).append(job_id, EventKind.CONFIRMED, number=number, verdict=verdict)

    def put_back(self, job_id: str, number: int, reason: str, tried: bool = True) -> None:
        """See `Store.put_back`. An attempt that is not being judged stays as it is."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            row = attempts.row(job_id, number)
            if row.state in BEING_JUDGED:
                _put_back(attempts, Events(session), row, reason, tried)

    def recover(self, job_id: str, reason: str = DIED) -> int:
        """See `Store.recover`. Only for a caller that knows no other process works on the job."""
        with self._database.writing() as session:
            Jobs(session).locked(job_id)
            attempts = Attempts(session)
            left = attempts.all(job_id, *BEING_JUDGED)
            for row in left:
                _put_back(attempts, Events(session), row, reason)
            return len(left)

    def add_seconds(self, job_id: str, seconds: float) -> None:
        """See `Store.add_seconds`."""
        with self._database.writing() as session:
            Jobs(session).add_seconds(job_id, seconds)

    def finish(self, job_id: str, state: JobState, reason: str) -> None:
        """See `Store.finish`."""
        with self._database.writing() as session:
            row = Jobs(session).locked(job_id)
            row.state, row.reason = state, reason
            Events(session).append(job_id, EventKind.JOB_ENDED, state=state.value, reason=reason)


def _put_back(attempts: Attempts, events: Events, row: AttemptRow, reason: str, tried: bool = True) -> None:
    attempts.put_back(row, reason, tried)
    kind = EventKind.ABANDONED if row.state is AttemptState.ABANDONED else EventKind.PUT_BACK
    events.append(row.job, kind, number=row.number, reason=reason)
