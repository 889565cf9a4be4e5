"""What is asked of a problem, and the workload that it is asked on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from evaluator.judge.cases import Case
from evaluator.judge.numerics import Yardstick, compare
from evaluator.judge.oracle import Round
from evaluator.judge.seeds import Seeds
from evaluator.judge.workbench import Workbench
from evaluator.problem.reference import argument_names

ROUNDS = 3
ROUNDS_DOUBTFUL = 16
TOO_OFTEN = 0.75

Fake = Callable[[int], torch.Tensor]
"""What somebody who computes nothing would answer in the round of that number, for one output."""


@dataclass(frozen=True)
class Finding:
    """One question about a problem, and its answer in words."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class ProblemReport:
    """Whether a problem can be judged: every finding passed."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the problem is sound."""
        return all(f.passed for f in self.findings)


@dataclass
class Subject:
    """A workload of a problem with rounds of nominal values, drawn as they are needed."""

    bench: Workbench
    case: Case
    seeds: Seeds = field(default_factory=Seeds)
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw(ROUNDS)

    def draw(self, count: int) -> None:
        """Have so many rounds. Raises InvalidProblem where the reference gives nothing to compare with."""
        while len(self.rounds) < count:
            round_ = self.bench.fresh_round(self.case, self.seeds)
            assert round_ is not None
            self.rounds.append(round_)

    @property
    def outputs(self) -> range:
        """The outputs by number: those returned, then the inputs that are changed."""
        return range(len(self.rounds[0].truths))

    def passes(self, output: int, actual: torch.Tensor, round_: Round) -> bool:
        """Whether a value would be accepted as an output of a round."""
        accuracy = self.bench.contract.accuracy
        return not compare(actual, round_.truths[output], round_.own[output], accuracy).reason

    def too_often(self, output: int, fake: Fake) -> bool:
        """Whether a fake passes in so many rounds that passing proves nothing.

        Among few integers one may be right by luck: it is tried in more rounds.
        """
        rounds = range(1, ROUNDS)
        passed = sum(self.passes(output, fake(i), self.rounds[i]) for i in rounds)
        if passed and self.rounds[0].truths[output].yardstick is Yardstick.EXACT:
            self.draw(ROUNDS_DOUBTFUL)
            rounds = range(1, ROUNDS_DOUBTFUL)
            passed = sum(self.passes(output, fake(i), self.rounds[i]) for i in rounds)
        return passed >= TOO_OFTEN * len(rounds)

    def input_name(self, number: int) -> str:
        """An input as its author calls it."""
        names = argument_names(self.bench.problem)
        return f"`{names[number]}`" if number < len(names) else f"number {number}"

    def output_name(self, number: int) -> str:
        """An output as its author calls it."""
        contract = self.bench.contract
        returned = len(self.bench.oracle.known[self.case.name].outputs)
        if number >= returned:
            return f"the changed input `{contract.mutates[number - returned]}`"
        if contract.outputs is not None:
            return f"output `{contract.outputs[number].name}`"
        return f"output {number}" if returned > 1 else "the output"
