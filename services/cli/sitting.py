"""One sitting on a job: from where it stands until it ends or a person stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.api import Job, JobState, Known, Proposer
from agent.floors import floors
from agent.search import Search
from evaluator.evaluation import Evaluation, InfraError, OutOfTime
from evaluator.problem.candidate import Candidate
from evaluator.problem.contract import Problem
from services.cli.interrupts import Interrupts
from services.cli.progress import Progress
from services.db.store import SqlStore
from services.errors import UsageError
from services.workshop import Evaluator

STOPPED = "stopped by a person"


@dataclass(frozen=True)
class Sitting:
    """What a sitting works with. The caller holds the job's lock."""

    store: SqlStore
    evaluator: Evaluator
    proposers: Sequence[Proposer]
    progress: Progress
    interrupts: Interrupts

    def work(self, job: Job) -> None:
        """Step until the job ends; a stop that was asked for ends it as STOPPED, its open attempt put back."""
        self.store.recover(job.id)
        try:
            self._steps(job)
        except KeyboardInterrupt:
            self.store.recover(job.id, STOPPED)
        if self.interrupts.asked and self.store.job(job.id).state is JobState.RUNNING:
            self.store.finish(job.id, JobState.STOPPED, STOPPED)

    def _steps(self, job: Job) -> None:
        self._show(job)
        self.progress.say("tracing the reference")
        with self.interrupts.interruptible():
            known = self._known(job.problem)
        search = Search(self.store, self._evaluate, self.proposers, known, self.progress.say)
        while not self.interrupts.asked and search.advance(job.id):
            self._show(job)

    def _known(self, problem: Problem) -> Known:
        graphs = self.evaluator.trace(problem)
        bandwidth = self.evaluator.bandwidth
        return Known(
            graphs=graphs,
            threads=self.evaluator.threads,
            floors=None if bandwidth is None else floors(graphs, bandwidth),
            generated=self._generator(problem),
        )

    def _generator(self, problem: Problem) -> Callable[[float | None], Candidate | None]:
        """Asks the compiler for its code once; a machine that cannot give it costs the job nothing else."""
        answers: list[Candidate | None] = []

        def generated(deadline: float | None) -> Candidate | None:
            if not answers:
                self.progress.say("asking the compiler for its code")
                try:
                    with self.interrupts.interruptible():
                        answers.append(self.evaluator.generated(problem, deadline))
                except OutOfTime:
                    return None
                except InfraError as e:
                    self.progress.say(f"the compiler gave no code, the machine failed: {e}")
                    answers.append(None)
            return answers[0]

        return generated

    def _evaluate(
        self, problem: Problem, candidate: Candidate, policy: str, deadline: float | None
    ) -> Evaluation:
        with self.interrupts.interruptible():
            return self.evaluator.evaluate(problem, candidate, policy, deadline)

    def _show(self, job: Job) -> None:
        self.progress.update(self.store.job(job.id), self.store.attempts(job.id))


def choose(proposers: Sequence[Proposer], names: Sequence[str] | None) -> Sequence[Proposer]:
    """The proposers named, all where None are. Raises UsageError for an unknown name."""
    known = {p.name: p for p in proposers}
    unknown = [n for n in names or () if n not in known]
    if unknown:
        raise UsageError(f"there is no proposer {unknown[0]!r}; choose from {', '.join(known)}")
    return [p for p in proposers if not names or p.name in names]
