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


class Bandwidths(Protocol):
    """How fast a machine moves data on one working set."""

    @property
    def working_set(self) -> int:
        """Bytes in use."""
        ...

    @property
    def rate(self) -> float:
        """Bytes per second."""
        ...


class Ceilings(Protocol):
    """How fast a machine can be at best."""

    @property
    def bandwidths(self) -> Sequence[Bandwidths]:
        """By working set, the smallest first."""
        ...

    @property
    def float32_rate(self) -> float:
        """Operations per second."""
        ...


class Calibrated(Protocol):
    """What a machine can tell apart. Seconds, but for `noise`, which is a share."""

    @property
    def functional(self) -> float:
        """What a call costs that does nothing and returns a result."""
        ...

    @property
    def destination(self) -> float:
        """What a call costs that does nothing and has its result's place given."""
        ...

    @property
    def resolution(self) -> float:
        """The least time worth telling."""
        ...

    @property
    def noise(self) -> float:
        """By how much the times of equal things differ."""
        ...

    @property
    def ceilings(self) -> Ceilings | None:
        """None where they were not measured."""
        ...

    def to_json(self) -> Mapping[str, object]:
        """As plain JSON data."""
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

    def generated(self, problem: Problem, deadline: float | None = None, /) -> Candidate | None:
        """The code that a compiler makes of the reference, as a candidate; None where there is none.

        Raises OutOfTime at the deadline, InfraError.
        """
        ...

    @property
    def bandwidth(self) -> Bandwidth | None:
        """How fast this machine moves data at most; None where it was not calibrated."""
        ...

    @property
    def calibration(self) -> Calibrated:
        """What this machine was found to tell apart."""
        ...

    def calibrate(self) -> Calibrated:
        """Measure this machine at length and keep what was found."""
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
