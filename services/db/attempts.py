"""Attempts and their evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from agent.api import MAX_TRIES, Attempt, AttemptState, Proposal, SearchError
from evaluator.evaluation import Evaluation
from services.db.candidates import Candidates
from services.db.models import AttemptRow, ConfirmationRow, EvaluationRow, Judgement
from services.errors import RecordDamaged


class Attempts:
    """The attempts and evaluations tables within one transaction; writers hold the job's lock."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._candidates = Candidates(session)

    def of(self, job_id: str) -> Sequence[Attempt]:
        """All of a job, by number."""
        return [self.read(r) for r in self._session.scalars(_rows(job_id))]

    def reasons(self, job_id: str) -> Mapping[int, str]:
        """Why attempts were put back or abandoned, by number; only those that were."""
        return {r.number: r.reason for r in self._session.scalars(_rows(job_id)) if r.reason}

    def add(self, job_id: str, proposal: Proposal) -> AttemptRow | None:
        """A new attempt, PROPOSED; None where the job has its candidate already."""
        digest = self._candidates.put(proposal.candidate)
        taken = select(AttemptRow.id).where(AttemptRow.job == job_id, AttemptRow.candidate == digest)
        if self._session.scalar(taken) is not None:
            return None
        last = self._session.scalar(select(func.max(AttemptRow.number)).where(AttemptRow.job == job_id)) or 0
        row = AttemptRow(
            job=job_id,
            number=last + 1,
            candidate=digest,
            proposer=proposal.proposer,
            idea=proposal.idea,
            parameters=dict(proposal.parameters),
            parents=list(proposal.parents),
            state=AttemptState.PROPOSED,
        )
        self._session.add(row)
        self._session.flush()
        return row

    def oldest(self, job_id: str, state: AttemptState) -> AttemptRow | None:
        """The lowest-numbered attempt in `state`."""
        return self._session.scalars(_rows(job_id).where(AttemptRow.state == state).limit(1)).first()

    def all(self, job_id: str, *states: AttemptState) -> Sequence[AttemptRow]:
        """The rows in one of `states`, by number."""
        return list(self._session.scalars(_rows(job_id).where(AttemptRow.state.in_(states))))

    def row(self, job_id: str, number: int) -> AttemptRow:
        """Raises SearchError when the job has no such attempt."""
        row = self._session.scalars(_rows(job_id).where(AttemptRow.number == number)).first()
        if row is None:
            raise SearchError(f"job {job_id} has no attempt {number}")
        return row

    def claim(self, row: AttemptRow) -> None:
        """An evaluation begins."""
        row.state = AttemptState.EVALUATING
        row.tries += 1
        self._session.flush()

    def claim_confirmation(self, row: AttemptRow) -> None:
        """A confirmation begins."""
        row.state = AttemptState.CONFIRMING
        row.confirmation_tries += 1
        self._session.flush()

    def record(self, row: AttemptRow, evaluation: Evaluation) -> None:
        """The evaluation is made."""
        row.evaluation = EvaluationRow(**_columns(evaluation))
        row.state = AttemptState.EVALUATED
        self._session.flush()

    def confirm(self, row: AttemptRow, confirmation: Evaluation) -> None:
        """The confirmation is made."""
        row.confirmation = ConfirmationRow(**_columns(confirmation))
        row.state = AttemptState.EVALUATED
        self._session.flush()

    def put_back(self, row: AttemptRow, reason: str, tried: bool) -> None:
        """The evaluation or confirmation was not made."""
        row.reason = reason
        if row.state is AttemptState.CONFIRMING:
            row.confirmation_tries -= not tried
            row.state = AttemptState.EVALUATED
        else:
            row.tries -= not tried
            row.state = AttemptState.ABANDONED if row.tries >= MAX_TRIES else AttemptState.PROPOSED
        self._session.flush()

    def read(self, row: AttemptRow) -> Attempt:
        """The row as the search knows it."""
        proposal = Proposal(
            candidate=self._candidates.get(row.candidate),
            proposer=row.proposer,
            idea=row.idea,
            parameters=row.parameters,
            parents=tuple(row.parents),
        )
        return Attempt(
            number=row.number,
            proposal=proposal,
            state=row.state,
            evaluation=_evaluation(row.evaluation),
            tries=row.tries,
            confirmation=_evaluation(row.confirmation),
            confirmation_tries=row.confirmation_tries,
        )


def _rows(job_id: str) -> Select[AttemptRow]:
    return select(AttemptRow).where(AttemptRow.job == job_id).order_by(AttemptRow.number)


def _columns(evaluation: Evaluation) -> dict[str, Any]:
    speedup = evaluation.timing.speedup if evaluation.timing else None
    return {
        "verdict": evaluation.verdict,
        "reason": evaluation.reason,
        "policy": evaluation.policy,
        "record": evaluation.to_json(),
        "speedup": speedup and speedup.value,
        "speedup_low": speedup and speedup.low,
        "speedup_high": speedup and speedup.high,
    }


def _evaluation(row: Judgement | None) -> Evaluation | None:
    if row is None:
        return None
    try:
        return Evaluation.from_json(row.record)
    except (KeyError, TypeError, ValueError) as e:
        raise RecordDamaged(f"judgement {row.id} of attempt {row.attempt} cannot be read back: {e!r}") from e
