"""Adding a row that is named by its content, whoever else adds it at the same moment."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.db.models import ArtifactRow, CandidateRow, ProblemRow


def add_once(session: Session, row: ArtifactRow | CandidateRow | ProblemRow) -> None:
    """Insert `row`, unless another transaction committed one with its digest meanwhile: that one is as good."""
    digest = row.digest
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        if session.get(type(row), digest) is None:
            raise
