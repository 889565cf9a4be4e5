"""What an exception means to whoever runs the command."""

from __future__ import annotations

import typer

from evaluator.evaluation import InfraError, InvalidProblem
from evaluator.problem.candidate import CandidateError
from evaluator.problem.contract import ProblemError
from sandbox.api import SandboxUnavailable
from services.errors import UsageError
from services.text import clean

FOUND, NOT_FOUND, WRONG_USE, OUR_FAULT = 0, 1, 2, 3

WRONG = (UsageError, ProblemError, CandidateError, InvalidProblem, typer.TyperException)
EXPECTED = (*WRONG, InfraError, SandboxUnavailable)


def exit_code(error: Exception) -> int:
    """2 where something else should have been asked, 3 where we failed."""
    return WRONG_USE if isinstance(error, WRONG) else OUR_FAULT


def kind(error: Exception) -> str:
    """A stable word for machines: the class's name in snake case; "internal" for what nobody foresaw."""
    if not isinstance(error, EXPECTED):
        return "internal"
    if isinstance(error, typer.TyperException):
        return "usage"
    name = type(error).__name__
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def message(error: Exception) -> str:
    """What to show: the error's own words, with what a host lacks where that is the matter."""
    if isinstance(error, SandboxUnavailable):
        lacks = "".join(f"\n  {g.name}: {g.detail} {g.remedy}".rstrip() for g in error.missing)
        return clean(f"{error}{lacks}", 4000)
    if isinstance(error, typer.TyperException):
        return clean(error.format_message())
    if isinstance(error, EXPECTED):
        return clean(str(error), 4000)
    return clean(f"{type(error).__name__}: {error}; set KERNELWRIGHT_DEBUG=1 for the traceback")
