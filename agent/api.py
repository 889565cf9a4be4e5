"""The search's words and its ports. `services` implements the store; proposers implement `Proposer`.

Errors:

    SearchError        the job cannot go on; the text says what to do
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluator.evaluation import Evaluation
from evaluator.problem.candidate import Candidate
from evaluator.problem.contract import Problem
from evaluator.problem.graph import Graph


class SearchError(Exception):
    """The job cannot go on."""


class JobState(enum.StrEnum):
    """Where a job stands."""

    RUNNING = "running"
    STOPPED = "stopped"  # by a person; can be resumed
    FINISHED = "finished"
    FAILED = "failed"  # the problem is invalid, or the machine kept failing


MAX_TRIES = 3
"""Evaluations of one attempt that may end without a judgement before it is abandoned."""


class AttemptState(enum.StrEnum):
    """Where an attempt stands."""

    PROPOSED = "proposed"
    EVALUATING = "evaluating"
    EVALUATED = "evaluated"
    ABANDONED = "abandoned"  # infra_error too often


@dataclass(frozen=True)
class Budget:
    """Hard limits of a job. None is no limit."""

    evaluations: int | None = 40
    seconds: float | None = 600.0


@dataclass(frozen=True)
class Proposal:
    """What a proposer hands over: a candidate, the idea behind it, the parameters chosen, its parents' digests."""

    candidate: Candidate
    proposer: str
    idea: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """One step of a search. `number` counts from 1 within the job; `tries` counts evaluations begun."""

    number: int
    proposal: Proposal
    state: AttemptState
    evaluation: Evaluation | None = None
    tries: int = 0


@dataclass(frozen=True)
class Job:
    """A search on a problem under a budget. `seconds_used` sums the wall time of all its sittings."""

    id: str
    problem: Problem
    budget: Budget
    state: JobState
    seconds_used: float = 0.0
    reason: str = ""


class Store(Protocol):
    """A job's stored state. Every method is one transaction."""

    def job(self, job_id: str) -> Job:
        """Raises SearchError when there is no such job."""
        ...

    def attempts(self, job_id: str) -> Sequence[Attempt]:
        """All attempts in order of number."""
        ...

    def add_proposal(self, job_id: str, proposal: Proposal) -> Attempt | None:
        """Record a proposal as an attempt; None where the job has this candidate already."""
        ...

    def claim(self, job_id: str) -> Attempt | None:
        """The oldest PROPOSED attempt, now EVALUATING with `tries` one higher; None where there is none."""
        ...

    def record(self, job_id: str, number: int, evaluation: Evaluation) -> None:
        """The attempt is EVALUATED. Recording the same attempt twice keeps the first."""
        ...

    def put_back(self, job_id: str, number: int, reason: str) -> None:
        """The evaluation was not made (crash, infra error): PROPOSED again, or ABANDONED after MAX_TRIES."""
        ...

    def recover(self, job_id: str) -> int:
        """Put back every attempt left EVALUATING by a process that died; how many."""
        ...

    def add_seconds(self, job_id: str, seconds: float) -> None:
        """Charge wall time to the job."""
        ...

    def finish(self, job_id: str, state: JobState, reason: str) -> None:
        """End or stop the job."""
        ...


Evaluate = Callable[[Problem, Candidate, str], Evaluation]
"""(problem, candidate, policy name) → evaluation. Raises InfraError, InvalidProblem."""


@dataclass(frozen=True)
class View:
    """What a proposer may know: the problem, its traced graph per workload, the attempts so far, the threads
    that both sides use."""

    problem: Problem
    graphs: Mapping[str, Graph]
    attempts: Sequence[Attempt]
    threads: int


class Proposer(Protocol):
    """Proposes candidates. Stateless: everything it knows is in the view, so any process can go on with it."""

    name: str

    def propose(self, view: View) -> Iterator[Proposal]:
        """Candidates worth trying, best guess first; empty where it has nothing (more) for this problem."""
        ...
