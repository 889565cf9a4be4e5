"""Files and settings that the command line is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluator.problem.constants import parse_settings
from evaluator.problem.contract import Problem
from evaluator.problem.load import load_problem
from services.errors import UsageError


def read_problem(path: Path, assignments: Sequence[str]) -> Problem:
    """The problem in a file, its constants set. Raises UsageError, ProblemError."""
    require_file(path, "problem")
    return load_problem(path, parse_settings(assignments))


def require_file(path: Path, what: str) -> None:
    """Raises UsageError where there is nothing at `path`."""
    if not path.exists():
        raise UsageError(f"there is no {what} at {path}")
