"""A store in memory, for tests and notebooks. It keeps the contract of `agent.api.Store`; nothing survives
the process."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from agent.api import MAX_TRIES, Attempt, AttemptState, Budget, Job, JobState, Proposal, SearchError
from evaluator.evaluation import Evaluation
from evaluator.problem.contract import Problem


class MemoryStore:
    """Jobs and their attempts in dictionaries. For one thread."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._attempts: dict[str, list[Attempt]] = {}
        self._ids = itertools.count(1)

    def add_job(self, problem: Problem, budget: Budget) -> Job:
        """A new running job."""
        job = Job(f"job-{next(self._ids)}", problem, budget, JobState.RUNNING)
        self._jobs[job.id] = job
        self._attempts[job.id] = []
        return job

    def job(self, job_id: str) -> Job:
        """Raises SearchError when there is no such job."""
        try:
            return self._jobs[job_id]
        except KeyError:
            raise SearchError(f"there is no job {job_id}") from None

    def attempts(self, job_id: str) -> Sequence[Attempt]:
        """All attempts in order of number."""
        self.job(job_id)
        return tuple(self._attempts[job_id])

    def add_proposal(self, job_id: str, proposal: Proposal) -> Attempt | None:
        """Record a proposal; None where the job has this candidate already."""
        attempts = self._attempts[job_id]
        if any(a.proposal.candidate.digest == proposal.candidate.digest for a in attempts):
            return None
        attempt = Attempt(len(attempts) + 1, proposal, AttemptState.PROPOSED)
        attempts.append(attempt)
        return attempt

    def claim(self, job_id: str) -> Attempt | None:
        """The oldest PROPOSED attempt, now EVALUATING."""
        for attempt in self._attempts[job_id]:
            if attempt.state is AttemptState.PROPOSED:
                return self._put(
                    job_id, replace(attempt, state=AttemptState.EVALUATING, tries=attempt.tries + 1)
                )
        return None

    def record(self, job_id: str, number: int, evaluation: Evaluation) -> None:
        """The attempt is EVALUATED; the first record is kept."""
        attempt = self._attempts[job_id][number - 1]
        if attempt.evaluation is None:
            self._put(job_id, replace(attempt, state=AttemptState.EVALUATED, evaluation=evaluation))

    def claim_confirmation(self, job_id: str, number: int) -> Attempt | None:
        """The EVALUATED attempt, now CONFIRMING."""
        attempt = self._attempts[job_id][number - 1]
        if attempt.state is not AttemptState.EVALUATED:
            return None
        begun = attempt.confirmation_tries + 1
        return self._put(job_id, replace(attempt, state=AttemptState.CONFIRMING, confirmation_tries=begun))

    def confirm(self, job_id: str, number: int, confirmation: Evaluation) -> None:
        """The attempt is EVALUATED again; its first confirmation is kept."""
        attempt = self._attempts[job_id][number - 1]
        if attempt.confirmation is None:
            self._put(job_id, replace(attempt, state=AttemptState.EVALUATED, confirmation=confirmation))

    def put_back(self, job_id: str, number: int, reason: str, tried: bool = True) -> None:
        """PROPOSED again, or ABANDONED after MAX_TRIES; EVALUATED where it was being confirmed."""
        attempt = self._attempts[job_id][number - 1]
        if attempt.state is AttemptState.EVALUATING:
            tries = attempt.tries if tried else attempt.tries - 1
            state = AttemptState.ABANDONED if tries >= MAX_TRIES else AttemptState.PROPOSED
            self._put(job_id, replace(attempt, state=state, tries=tries))
        elif attempt.state is AttemptState.CONFIRMING:
            tries = attempt.confirmation_tries if tried else attempt.confirmation_tries - 1
            self._put(job_id, replace(attempt, state=AttemptState.EVALUATED, confirmation_tries=tries))

    def recover(self, job_id: str) -> int:
        """Put back every attempt left EVALUATING or CONFIRMING."""
        begun = (AttemptState.EVALUATING, AttemptState.CONFIRMING)
        lost = [a for a in self._attempts[job_id] if a.state in begun]
        for attempt in lost:
            self.put_back(job_id, attempt.number, "its process died")
        return len(lost)

    def add_seconds(self, job_id: str, seconds: float) -> None:
        """Charge wall time to the job."""
        job = self.job(job_id)
        self._jobs[job_id] = replace(job, seconds_used=job.seconds_used + seconds)

    def finish(self, job_id: str, state: JobState, reason: str) -> None:
        """End or stop the job."""
        self._jobs[job_id] = replace(self.job(job_id), state=state, reason=reason)

    def _put(self, job_id: str, attempt: Attempt) -> Attempt:
        self._attempts[job_id][attempt.number - 1] = attempt
        return attempt
