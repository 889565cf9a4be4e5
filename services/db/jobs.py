"""Jobs: what is searched, under which budget, and where it stands."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from agent.api import Budget, Job, JobState
from evaluator.problem.contract import Problem
from services.db.models import JobRow
from services.db.problems import Problems
from services.errors import UnknownJob

ID_BYTES = 5


@dataclass(frozen=True)
class JobRecord:
    """A job with what the search need not know. `proposers` None means all."""

    job: Job
    proposers: tuple[str, ...] | None
    created_at: datetime
    updated_at: datetime


class Jobs:
    """The jobs table within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._problems = Problems(session)

    def create(self, problem: Problem, budget: Budget, proposers: Sequence[str] | None) -> str:
        """A new job, RUNNING; its id."""
        row = JobRow(
            id=secrets.token_hex(ID_BYTES),
            problem=self._problems.put(problem),
            budget_evaluations=budget.evaluations,
            budget_seconds=budget.seconds,
            proposers=None if proposers is None else list(proposers),
            state=JobState.RUNNING,
        )
        self._session.add(row)
        self._session.flush()
        return row.id

    def get(self, job_id: str) -> JobRecord:
        """Raises UnknownJob."""
        row = self._found(job_id, self._session.get(JobRow, job_id))
        job = Job(
            id=row.id,
            problem=self._problems.get(row.problem),
            budget=Budget(row.budget_evaluations, row.budget_seconds),
            state=row.state,
            seconds_used=row.seconds_used,
            reason=row.reason,
        )
        proposers = None if row.proposers is None else tuple(row.proposers)
        return JobRecord(job, proposers, row.created_at, row.updated_at)

    def locked(self, job_id: str) -> JobRow:
        """The job's row, locked until the transaction ends. Raises UnknownJob."""
        row = self._session.scalar(select(JobRow).where(JobRow.id == job_id).with_for_update())
        return self._found(job_id, row)

    def add_seconds(self, job_id: str, seconds: float) -> None:
        """Charge wall time, whatever others charge meanwhile. Raises UnknownJob."""
        charged = (
            update(JobRow)
            .where(JobRow.id == job_id)
            .values(seconds_used=JobRow.seconds_used + seconds)
            .returning(JobRow.id)
        )
        if self._session.scalar(charged) is None:
            raise self._unknown(job_id)

    def _found(self, job_id: str, row: JobRow | None) -> JobRow:
        if row is None:
            raise self._unknown(job_id)
        return row

    def _unknown(self, job_id: str) -> UnknownJob:
        newest = select(JobRow.id).order_by(JobRow.created_at.desc()).limit(5)
        known = ", ".join(self._session.scalars(newest))
        return UnknownJob(f"there is no job {job_id!r}; the newest are: {known or 'none yet'}")
