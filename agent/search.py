"""The search loop: one step at a time over stored state.

Any process may take the next step after any crash: everything that decides it is in the store. The control that
later strategies must beat is this one, best-of-N: the proposers take turns, each offers its best guess first. When
there is nothing more to try, or only as much time as it takes, the best is confirmed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from agent.api import (
    Attempt,
    AttemptState,
    Evaluate,
    Job,
    JobState,
    Known,
    Proposal,
    Proposer,
    Store,
    View,
)
from agent.confirmation import POLICY as CONFIRM
from agent.confirmation import holds, reserve, to_confirm
from agent.floors import at_floor
from agent.selection import best
from evaluator.evaluation import Evaluation, InfraError, InvalidProblem, OutOfTime

POLICY = "search"
ABANDONED_IN_A_ROW = 3

Say = Callable[[str], None]


@dataclass(frozen=True)
class Search:
    """What every step of a job works with. `say` is told, in a line each, what happens and what became of it."""

    store: Store
    evaluate: Evaluate
    proposers: Sequence[Proposer]
    known: Known
    say: Say = lambda text: None

    def advance(self, job_id: str) -> bool:
        """Take the job's next step: judge or confirm one candidate. False once the job has ended.

        Raises SearchError where there is no such job; anything but InfraError, InvalidProblem and OutOfTime
        that `evaluate` raises passes through, and `store.recover` puts the attempt back.
        """
        started = time.monotonic()
        job = self.store.job(job_id)
        if job.state is not JobState.RUNNING:
            return False
        try:
            return self._step(job, started)
        except InvalidProblem as e:
            self.store.finish(job_id, JobState.FAILED, str(e))
            return False
        finally:
            self.store.add_seconds(job_id, time.monotonic() - started)

    def _step(self, job: Job, started: float) -> bool:
        attempts = self.store.attempts(job.id)
        if _keeps_failing(attempts):
            reason = "the machine kept failing: see the reasons of the last attempts"
            self.store.finish(job.id, JobState.FAILED, reason)
            return False
        floor = job.problem.contract.floor
        kept = reserve(attempts, floor)
        deadline = _deadline(job, started, kept)
        ending = self._ending(job, attempts, kept) or self._refill(job, deadline)
        if ending is None:
            self._judge(job, deadline)
            return True
        pending = to_confirm(attempts, floor)
        if pending is None or _seconds_left(job) <= 0:
            unconfirmed = "" if pending is None else f"; attempt {pending.number} is not confirmed"
            self.store.finish(job.id, JobState.FINISHED, ending + unconfirmed)
            return False
        self._confirm(job, pending, _deadline(job, started))
        return True

    # --- one evaluation -----------------------------------------------------------------------------------

    def _judge(self, job: Job, deadline: float | None) -> None:
        attempt = self.store.claim(job.id)
        if attempt is None:
            return
        self.say(f"attempt {attempt.number}: {attempt.proposal.proposer}, {attempt.proposal.idea}")
        evaluation = self._evaluation(job, attempt, POLICY, deadline)
        if evaluation is not None:
            self.store.record(job.id, attempt.number, evaluation)
            self.say(f"attempt {attempt.number}: {evaluation.verdict}, {_outcome(evaluation)}")

    def _confirm(self, job: Job, pending: Attempt, deadline: float | None) -> None:
        attempt = self.store.claim_confirmation(job.id, pending.number)
        if attempt is None:
            return
        self.say(f"attempt {attempt.number}: confirming it, apart from what made it the best")
        evaluation = self._evaluation(job, attempt, CONFIRM, deadline)
        if evaluation is not None:
            self.store.confirm(job.id, attempt.number, evaluation)
            word = "confirmed" if holds(evaluation, job.problem.contract.floor) else "not confirmed"
            self.say(f"attempt {attempt.number}: {word}, {_outcome(evaluation)}")

    def _evaluation(
        self, job: Job, attempt: Attempt, policy: str, deadline: float | None
    ) -> Evaluation | None:
        """The judgement; None where there is none, and the attempt was put back."""
        try:
            return self.evaluate(job.problem, attempt.proposal.candidate, policy, deadline)
        except InfraError as e:
            self.store.put_back(job.id, attempt.number, str(e))
            self.say(f"attempt {attempt.number}: not judged, the machine failed: {e}")
        except OutOfTime:
            reason = "the job's time was up before it was judged"
            self.store.put_back(job.id, attempt.number, reason, tried=False)
            self.say(f"attempt {attempt.number}: {reason}")
        except InvalidProblem as e:
            self.store.put_back(job.id, attempt.number, str(e))
            raise
        return None

    # --- what comes next ----------------------------------------------------------------------------------

    def _ending(self, job: Job, attempts: Sequence[Attempt], kept: float) -> str | None:
        """Why nothing more is tried, or None. An attempt counts from the moment its evaluation begins.

        kept: seconds that are not to be spent on trying.
        """
        budget = job.budget
        top = best(attempts)
        if top is not None and at_floor(top, self.known.floors):
            return f"attempt {top.number} is as fast as this machine can move the data"
        if _seconds_left(job) <= kept:
            return f"the time budget of {budget.seconds:g} s is used up"
        begun = sum(1 for a in attempts if a.tries > 0)
        retry = any(a.tries > 0 for a in attempts if a.state is AttemptState.PROPOSED)
        if budget.evaluations is not None and begun >= budget.evaluations and not retry:
            return f"the budget of {budget.evaluations} evaluations is used up"
        return None

    def _refill(self, job: Job, deadline: float | None) -> str | None:
        """See to it that an attempt is outstanding; the reason to end where no proposer has one left."""
        attempts = self.store.attempts(job.id)
        if any(a.state in (AttemptState.PROPOSED, AttemptState.EVALUATING) for a in attempts):
            return None
        known = self.known
        generated = partial(known.generated, deadline)
        view = View(job.problem, known.graphs, attempts, known.threads, generated)
        for proposer in by_turns(self.proposers, attempts):
            proposal = next(_new(proposer, view), None)
            if proposal is not None:
                self.store.add_proposal(job.id, proposal)
                return None
        return "no proposer has anything more to try"


def _seconds_left(job: Job) -> float:
    return float("inf") if job.budget.seconds is None else job.budget.seconds - job.seconds_used


def _deadline(job: Job, started: float, kept: float = 0.0) -> float | None:
    """When, on time.monotonic()'s clock, an evaluation of this step must end; None for never."""
    left = _seconds_left(job)
    return None if left == float("inf") else started + left - kept


def _keeps_failing(attempts: Sequence[Attempt]) -> bool:
    last = attempts[-ABANDONED_IN_A_ROW:]
    return len(last) == ABANDONED_IN_A_ROW and all(a.state is AttemptState.ABANDONED for a in last)


def _outcome(evaluation: Evaluation) -> str:
    if evaluation.timing is None:
        return evaluation.reason
    return f"{evaluation.timing.speedup.value:.2f} times {evaluation.timing.baseline}"


def by_turns(proposers: Sequence[Proposer], attempts: Sequence[Attempt]) -> Sequence[Proposer]:
    """Whoever has cost the least evaluation time comes first, then who has had the fewest attempts; ties in the
    order given. So a proposer whose candidates take minutes to compile does not crowd out one whose take seconds."""

    def share(proposer: Proposer) -> tuple[float, int]:
        own = [a for a in attempts if a.proposal.proposer == proposer.name]
        return sum(sum(a.evaluation.stages.values()) for a in own if a.evaluation is not None), len(own)

    return sorted(proposers, key=share)


def _new(proposer: Proposer, view: View) -> Iterator[Proposal]:
    known = {a.proposal.candidate.digest for a in view.attempts}
    return (p for p in proposer.propose(view) if p.candidate.digest not in known)
