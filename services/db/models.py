"""The tables. Written for PostgreSQL, run on SQLite as well; the schema is changed only by migrations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, LargeBinary, MetaData, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from agent.api import AttemptState, JobState
from evaluator.evaluation import Verdict
from evaluator.problem.candidate import Language
from evaluator.problem.contract import ReferenceStyle
from services.db.types import ForeignText, Moment, Plain, now, word

DIGEST = String(64)
NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """What all tables share: naming of constraints, and types by annotation."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {  # noqa: RUF012 - declared by SQLAlchemy without ClassVar
        datetime: Moment,
        dict[str, Any]: Plain,
        list[str]: Plain,
        JobState: word(JobState),
        AttemptState: word(AttemptState),
        Verdict: word(Verdict),
        Language: word(Language),
        ReferenceStyle: word(ReferenceStyle),
    }


class ArtifactRow(Base):
    """Bytes by the SHA-256 of what they are before compression."""

    __tablename__ = "artifacts"

    digest: Mapped[str] = mapped_column(DIGEST, primary_key=True)
    size: Mapped[int]
    compressed: Mapped[bytes] = mapped_column(LargeBinary)
    compressed_size: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=now)


class ProblemRow(Base):
    """A problem by its digest; the reference's source is an artifact."""

    __tablename__ = "problems"

    digest: Mapped[str] = mapped_column(DIGEST, primary_key=True)
    name: Mapped[str] = mapped_column(ForeignText)
    origin: Mapped[str] = mapped_column(String(32))
    contract: Mapped[dict[str, Any]]
    notes: Mapped[list[str]]
    source: Mapped[str] = mapped_column(DIGEST, ForeignKey("artifacts.digest"))
    entry: Mapped[str] = mapped_column(ForeignText)
    style: Mapped[ReferenceStyle]
    created_at: Mapped[datetime] = mapped_column(default=now)


class JobRow(Base):
    """A search on a problem. `proposers` None means all; a NULL budget means no limit."""

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    problem: Mapped[str] = mapped_column(DIGEST, ForeignKey("problems.digest"), index=True)
    budget_evaluations: Mapped[int | None]
    budget_seconds: Mapped[float | None] = mapped_column(Float(53))
    proposers: Mapped[list[str] | None]
    state: Mapped[JobState]
    seconds_used: Mapped[float] = mapped_column(Float(53), default=0.0)
    reason: Mapped[str] = mapped_column(ForeignText, default="")
    created_at: Mapped[datetime] = mapped_column(default=now, index=True)
    updated_at: Mapped[datetime] = mapped_column(default=now, onupdate=now)


class CandidateRow(Base):
    """A candidate by its digest."""

    __tablename__ = "candidates"

    digest: Mapped[str] = mapped_column(DIGEST, primary_key=True)
    language: Mapped[Language]
    created_at: Mapped[datetime] = mapped_column(default=now)
    files: Mapped[list[CandidateFileRow]] = relationship(
        order_by="CandidateFileRow.position", lazy="selectin", cascade="all, delete-orphan"
    )


class CandidateFileRow(Base):
    """One file of a candidate; `position` keeps the order they were given in."""

    __tablename__ = "candidate_files"
    __table_args__ = (UniqueConstraint("candidate", "name"),)

    candidate: Mapped[str] = mapped_column(
        DIGEST, ForeignKey("candidates.digest", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    artifact: Mapped[str] = mapped_column(DIGEST, ForeignKey("artifacts.digest"))


class AttemptRow(Base):
    """One step of a job. A job tries a candidate once."""

    __tablename__ = "attempts"
    __table_args__ = (
        UniqueConstraint("job", "number"),
        UniqueConstraint("job", "candidate"),
        Index(None, "job", "state", "number"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    job: Mapped[str] = mapped_column(String(32), ForeignKey("jobs.id", ondelete="CASCADE"))
    number: Mapped[int]
    candidate: Mapped[str] = mapped_column(DIGEST, ForeignKey("candidates.digest"))
    proposer: Mapped[str] = mapped_column(String(64))
    idea: Mapped[str] = mapped_column(ForeignText)
    parameters: Mapped[dict[str, Any]]
    parents: Mapped[list[str]]
    state: Mapped[AttemptState]
    tries: Mapped[int] = mapped_column(default=0)
    confirmation_tries: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str] = mapped_column(ForeignText, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now, onupdate=now)
    evaluation: Mapped[EvaluationRow | None] = relationship(lazy="joined", cascade="all, delete-orphan")
    confirmation: Mapped[ConfirmationRow | None] = relationship(lazy="joined", cascade="all, delete-orphan")


class Judgement:
    """A judgement of an attempt: the whole record, and the columns that are searched by."""

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt: Mapped[int] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"), unique=True)
    verdict: Mapped[Verdict]
    reason: Mapped[str] = mapped_column(ForeignText)
    policy: Mapped[str] = mapped_column(String(32))
    record: Mapped[dict[str, Any]]
    speedup: Mapped[float | None] = mapped_column(Float(53))
    speedup_low: Mapped[float | None] = mapped_column(Float(53))
    speedup_high: Mapped[float | None] = mapped_column(Float(53))
    created_at: Mapped[datetime] = mapped_column(default=now)


class EvaluationRow(Judgement, Base):
    """The first judgement of an attempt."""

    __tablename__ = "evaluations"


class ConfirmationRow(Judgement, Base):
    """The second, of an attempt that was the best."""

    __tablename__ = "confirmations"


class BaselineRow(Base):
    """A cached measurement of a problem's baselines. The key is the judge's: problem, machine, versions."""

    __tablename__ = "baselines"

    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    value: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime] = mapped_column(default=now, onupdate=now)


class EventRow(Base):
    """What happened in a job, in order; written in the transaction that made it happen."""

    __tablename__ = "events"

    job: Mapped[str] = mapped_column(String(32), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    data: Mapped[dict[str, Any]]
    at: Mapped[datetime] = mapped_column(default=now)
