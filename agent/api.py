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
    CONFIRMING = "confirming"  # evaluated, and being judged once more
    ABANDONED = "abandoned"  # infra_error too often


@dataclass(frozen=True)
class Budget:
    """Hard limits of a job. None is no limit.

    evaluations: candidates tried; confirmations of the best come on top, at most `confirmation.MOST` of them.
    seconds: wall time of everything, confirmations included.
    """

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
    """One step of a search.

    number: counts from 1 within the job. tries, confirmation_tries: evaluations and confirmations begun.
    confirmation: a second judgement, apart from the first, of an attempt that was the best when it was made.
    """

    number: int
    proposal: Proposal
    state: AttemptState
    evaluation: Evaluation | None = None
    tries: int = 0
    confirmation: Evaluation | None = None
    confirmation_tries: int = 0


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

    def claim_confirmation(self, job_id: str, number: int) -> Attempt | None:
        """The attempt, now CONFIRMING with `confirmation_tries` one higher; None where it is not EVALUATED."""
        ...

    def confirm(self, job_id: str, number: int, confirmation: Evaluation) -> None:
        """The attempt is EVALUATED again, with its confirmation. Confirming it twice keeps the first."""
        ...

    def put_back(self, job_id: str, number: int, reason: str, tried: bool = True) -> None:
        """The evaluation or confirmation was not made (crash, infra error).

        A CONFIRMING attempt is EVALUATED as before; an EVALUATING one PROPOSED again, or ABANDONED after MAX_TRIES.
        tried: whether it counts as a try; false where the job's own limits cut it short.
        """
        ...

    def recover(self, job_id: str) -> int:
        """Put back every attempt left EVALUATING or CONFIRMING by a process that died; how many."""
        ...

    def add_seconds(self, job_id: str, seconds: float) -> None:
        """Charge wall time to the job."""
        ...

    def finish(self, job_id: str, state: JobState, reason: str) -> None:
        """End or stop the job."""
        ...


Evaluate = Callable[[Problem, Candidate, str, float | None], Evaluation]
"""(problem, candidate, policy name, deadline) → evaluation. The deadline is on time.monotonic()'s clock.

Raises InfraError, InvalidProblem, OutOfTime.
"""


def nothing_generated(deadline: float | None = None) -> Candidate | None:
    """No compiler's code."""
    return None


@dataclass(frozen=True)
class Known:
    """What is known of a problem on this machine before anything is tried.

    graphs: the reference's traced graph by workload, empty where it cannot be traced.
    threads: what both sides of a measurement use.
    floors: by workload, the seconds below which this machine cannot move the operation's bytes; None where the
        machine was not calibrated.
    generated: gives a compiler's code for the reference as a candidate; None where there is none, or where it could
        not be had by the deadline. Slow when first called.
    """

    graphs: Mapping[str, Graph]
    threads: int
    floors: Mapping[str, float] | None = None
    generated: Callable[[float | None], Candidate | None] = nothing_generated


@dataclass(frozen=True)
class View:
    """What a proposer may know: the problem, its traced graph per workload, the attempts so far, the threads
    that both sides use, a compiler's code for the reference (see `Known`)."""

    problem: Problem
    graphs: Mapping[str, Graph]
    attempts: Sequence[Attempt]
    threads: int
    generated: Callable[[], Candidate | None] = nothing_generated


class Proposer(Protocol):
    """Proposes candidates. Stateless: everything it knows is in the view, so any process can go on with it."""

    name: str

    def propose(self, view: View) -> Iterator[Proposal]:
        """Candidates worth trying, best guess first; empty where it has nothing (more) for this problem."""
        ...
