"""Problems, stored so that they come back with the same digest."""

from __future__ import annotations

from sqlalchemy.orm import Session

from evaluator.problem.contract import Problem, Reference
from evaluator.problem.records import contract_from_json, contract_to_json
from services.db.artifacts import Artifacts
from services.db.models import ProblemRow
from services.db.once import add_once
from services.errors import RecordDamaged


class Problems:
    """The problems table within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._artifacts = Artifacts(session)

    def put(self, problem: Problem) -> str:
        """Keep the problem once; its digest. Origin and notes stay those of the first time."""
        digest = problem.digest
        if self._session.get(ProblemRow, digest) is None:
            add_once(self._session, self._row(digest, problem))
        return digest

    def get(self, digest: str) -> Problem:
        """The problem. Raises RecordDamaged when it is missing or has another digest now."""
        row = self._session.get(ProblemRow, digest)
        if row is None:
            raise RecordDamaged(f"problem {digest} is missing")
        reference = Reference(self._artifacts.get_text(row.source), row.entry, row.style)
        try:
            contract = contract_from_json(row.contract)
        except ValueError as e:
            raise RecordDamaged(f"problem {digest}: {e}") from e
        problem = Problem(contract, reference, row.origin, tuple(row.notes))
        if problem.digest != digest:
            raise RecordDamaged(f"problem {digest} reads back as {problem.digest}")
        return problem

    def _row(self, digest: str, problem: Problem) -> ProblemRow:
        return ProblemRow(
            digest=digest,
            name=problem.contract.name,
            origin=problem.origin,
            contract=contract_to_json(problem.contract),
            notes=list(problem.notes),
            source=self._artifacts.put_text(problem.reference.source),
            entry=problem.reference.entry,
            style=problem.reference.style,
        )
