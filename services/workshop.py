"""What the command line needs to do its work, as ports; `services.bootstrap` builds the real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from agent.api import Proposer
from agent.floors import Bandwidth
from evaluator.evaluation import Evaluation
from evaluator.problem.candidate import Candidate
from evaluator.problem.contract import Problem
from evaluator.problem.graph import Graph
from sandbox.api import Guarantee
from services.settings import Settings

if TYPE_CHECKING:  # `--help` must not load SQLAlchemy
    from services.db.store import SqlStore

Say = Callable[[str], None]
"""Takes a line about what is being done now."""


class Finding(Protocol):
    """One thing that was asked of a problem."""

    @property
    def name(self) -> str:
        """What was asked."""
        ...

    @property
    def passed(self) -> bool:
        """Whether it held."""
        ...

    @property
    def detail(self) -> str:
        """What was seen, and what to change where it did not hold."""
        ...


class ProblemReport(Protocol):
    """The judgement of a problem."""

    @property
    def ok(self) -> bool:
        """Whether candidates can be judged on it."""
        ...

    @property
    def findings(self) -> Sequence[Finding]:
        """Everything that was asked, in order."""
        ...


class Evaluator(Protocol):
    """A judge that is ready to work. Raises InfraError where the machine fails."""

    @property
    def threads(self) -> int:
        """Threads that candidates and baselines use."""
        ...

    @property
    def machine(self) -> Mapping[str, object]:
        """The machine and its versions, as JSON data."""
        ...

    def check(self, problem: Problem, /) -> ProblemReport:
        """Judge the problem itself."""
        ...

    def trace(self, problem: Problem, /) -> Mapping[str, Graph]:
        """The reference's traced graph by workload; empty where it cannot be traced."""
        ...

    def generated(self, problem: Problem, /) -> Candidate | None:
        """The code that a compiler makes of the reference, as a candidate; None where there is none."""
        ...

    @property
    def bandwidth(self) -> Bandwidth | None:
        """How fast this machine moves data at most; None where it was not calibrated."""
        ...

    def evaluate(
        self, problem: Problem, candidate: Candidate, policy: str, deadline: float | None = None, /
    ) -> Evaluation:
        """Judge a candidate, until `deadline` on time.monotonic()'s clock.

        Raises InvalidProblem where the problem cannot be judged, OutOfTime.
        """
        ...


class Workshop(Protocol):
    """Everything a command may use. Nothing is opened or started before it is asked for."""

    @property
    def settings(self) -> Settings:
        """What it was opened with."""
        ...

    def store(self) -> SqlStore:
        """The stored state. Raises SchemaOutdated, SettingsError."""
        ...

    def upgrade(self) -> str:
        """Bring the database's schema up to date; its revision."""
        ...

    def evaluator(self, say: Say) -> AbstractContextManager[Evaluator]:
        """A judge, ended with its processes at the end of the context. Raises SandboxUnavailable."""
        ...

    def proposers(self) -> tuple[Proposer, ...]:
        """All proposers, in order."""
        ...

    def guarantees(self) -> tuple[Guarantee, ...]:
        """What the sandbox enforces on this host, found by trying. Raises SandboxUnavailable."""
        ...

    def close(self) -> None:
        """Free everything. Idempotent."""
        ...


OpenWorkshop = Callable[[Settings], Workshop]
