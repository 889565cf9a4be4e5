"""Events: what happened in a job, in order."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.db.models import EventRow


class EventKind(enum.StrEnum):
    """What an event tells."""

    JOB_CREATED = "job_created"
    JOB_REOPENED = "job_reopened"
    JOB_ENDED = "job_ended"
    PROPOSED = "proposed"
    CLAIMED = "claimed"
    EVALUATED = "evaluated"
    CONFIRMING = "confirming"
    CONFIRMED = "confirmed"
    PUT_BACK = "put_back"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Event:
    """One thing that happened. `sequence` counts from 1 within the job."""

    sequence: int
    kind: EventKind
    data: dict[str, Any]
    at: datetime


class Events:
    """The events table within one transaction, which holds the job's lock when it appends."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def append(self, job_id: str, kind: EventKind, **data: Any) -> None:
        """Add the job's next event."""
        last = self._session.scalar(select(func.max(EventRow.sequence)).where(EventRow.job == job_id)) or 0
        self._session.add(EventRow(job=job_id, sequence=last + 1, kind=kind.value, data=data))
        self._session.flush()

    def after(self, job_id: str, sequence: int = 0) -> Sequence[Event]:
        """The job's events past `sequence`, in order."""
        rows = self._session.scalars(
            select(EventRow)
            .where(EventRow.job == job_id, EventRow.sequence > sequence)
            .order_by(EventRow.sequence)
        )
        return [Event(r.sequence, EventKind(r.kind), r.data, r.at) for r in rows]
