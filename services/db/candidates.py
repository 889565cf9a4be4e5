"""Candidates, stored file by file, so that they come back with the same digest."""

from __future__ import annotations

from sqlalchemy.orm import Session

from evaluator.problem.candidate import Candidate
from services.db.artifacts import Artifacts
from services.db.models import CandidateFileRow, CandidateRow
from services.db.once import add_once
from services.errors import RecordDamaged


class Candidates:
    """The candidates table within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._artifacts = Artifacts(session)

    def put(self, candidate: Candidate) -> str:
        """Keep the candidate once; its digest."""
        digest = candidate.digest
        if self._session.get(CandidateRow, digest) is None:
            files = [
                CandidateFileRow(position=i, name=name, artifact=self._artifacts.put_text(text))
                for i, (name, text) in enumerate(candidate.files.items())
            ]
            add_once(self._session, CandidateRow(digest=digest, language=candidate.language, files=files))
        return digest

    def get(self, digest: str) -> Candidate:
        """The candidate. Raises RecordDamaged when it is missing or has another digest now."""
        row = self._session.get(CandidateRow, digest)
        if row is None:
            raise RecordDamaged(f"candidate {digest} is missing")
        files = {f.name: self._artifacts.get_text(f.artifact) for f in row.files}
        candidate = Candidate(files, row.language)
        if candidate.digest != digest:
            raise RecordDamaged(f"candidate {digest} reads back as {candidate.digest}")
        return candidate
