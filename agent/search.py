"""The search loop: one step at a time over stored state.

Any process may take the next step after any crash: everything that decides it is in the store. The control that
later strategies must beat is this one, best-of-N: the proposers take turns, each offers its best guess first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from agent.api import Attempt, AttemptState, Evaluate, Job, JobState, Proposal, Proposer, Store, View
from evaluator.evaluation import InfraError, InvalidProblem
from evaluator.problem.graph import Graph

POLICY = "search"
ABANDONED_IN_A_ROW = 3

Say = Callable[[str], None]


def advance(
    job_id: str,
    store: Store,
    evaluate: Evaluate,
    proposers: Sequence[Proposer],
    graphs: Mapping[str, Graph],
    threads: int,
    say: Say = lambda text: None,
) -> bool:
    """Take the job's next step: evaluate one candidate. False once the job has ended.

    graphs: the traced graph per workload name, empty where the reference cannot be traced.
    threads: what both sides of a measurement use.
    say: told, in a line each, what is about to happen and what became of it.
    Raises SearchError where there is no such job; anything but InfraError and InvalidProblem that `evaluate`
    raises passes through, and `store.recover` puts the attempt back.
    """
    started = time.monotonic()
    job = store.job(job_id)
    if job.state is not JobState.RUNNING:
        return False
    ending = _ending(job, store.attempts(job_id)) or _refill(job, store, proposers, graphs, threads)
    if ending:
        store.finish(job_id, *ending)
        return False
    attempt = store.claim(job_id)
    try:
        if attempt is not None:
            _judge(job, attempt, store, evaluate, say)
    except InvalidProblem as e:
        store.finish(job_id, JobState.FAILED, str(e))
        return False
    finally:
        store.add_seconds(job_id, time.monotonic() - started)
    return True


def _judge(job: Job, attempt: Attempt, store: Store, evaluate: Evaluate, say: Say) -> None:
    say(f"attempt {attempt.number}: {attempt.proposal.proposer}, {attempt.proposal.idea}")
    try:
        evaluation = evaluate(job.problem, attempt.proposal.candidate, POLICY)
    except InfraError as e:
        store.put_back(job.id, attempt.number, str(e))
        say(f"attempt {attempt.number}: not judged, the machine failed: {e}")
        return
    except InvalidProblem as e:
        store.put_back(job.id, attempt.number, str(e))
        raise
    store.record(job.id, attempt.number, evaluation)
    outcome = evaluation.reason
    if evaluation.timing is not None:
        outcome = f"{evaluation.timing.speedup.value:.2f} times {evaluation.timing.baseline}"
    say(f"attempt {attempt.number}: {evaluation.verdict}, {outcome}")


def _ending(job: Job, attempts: Sequence[Attempt]) -> tuple[JobState, str] | None:
    """Why the job ends here, or None. An attempt counts from the moment its evaluation begins."""
    budget = job.budget
    last = attempts[-ABANDONED_IN_A_ROW:]
    if len(last) == ABANDONED_IN_A_ROW and all(a.state is AttemptState.ABANDONED for a in last):
        return JobState.FAILED, "the machine kept failing: see the reasons of the last attempts"
    if budget.seconds is not None and job.seconds_used >= budget.seconds:
        return JobState.FINISHED, f"the time budget of {budget.seconds:g} s is used up"
    begun = sum(1 for a in attempts if a.tries > 0)
    retry = any(a.tries > 0 for a in attempts if a.state is AttemptState.PROPOSED)
    if budget.evaluations is not None and begun >= budget.evaluations and not retry:
        return JobState.FINISHED, f"the budget of {budget.evaluations} evaluations is used up"
    return None


def _refill(
    job: Job, store: Store, proposers: Sequence[Proposer], graphs: Mapping[str, Graph], threads: int
) -> tuple[JobState, str] | None:
    """See to it that an attempt is outstanding; the reason to end where no proposer has one left."""
    attempts = store.attempts(job.id)
    if any(a.state in (AttemptState.PROPOSED, AttemptState.EVALUATING) for a in attempts):
        return None
    view = View(job.problem, graphs, attempts, threads)
    for proposer in by_turns(proposers, attempts):
        proposal = next(_new(proposer, view), None)
        if proposal is not None:
            store.add_proposal(job.id, proposal)
            return None
    return JobState.FINISHED, "no proposer has anything more to try"


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
