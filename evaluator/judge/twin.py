"""A second instance of the reference's module, which may be changed and is thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from evaluator.harness.wire import State
from evaluator.judge.findings import Subject
from evaluator.judge.oracle import Round
from evaluator.judge.seat import Answer
from evaluator.judge.state import StateArena


class Twin:
    """An instance built as the workload's own was, from the same seed, with the same weights at first.

    `state` is what it was given last. Every method raises Fault where the reference fails.
    """

    def __init__(self, subject: Subject, entries: tuple[State, ...], key: str) -> None:
        self._subject = subject
        self._oracle = subject.bench.oracle
        self._entries = entries
        self._key = key
        self._binding = f"{subject.case.name}/twin"
        self.state = self._oracle.copied(entries)

    def give(self, state: StateArena) -> None:
        """Give it the weights of another instance."""
        self._oracle.seat.set_state(self._key, state)

    def bind(self, round_: Round) -> None:
        """Make it ready for rounds of the workload."""
        known = self._oracle.known[self._subject.case.name]
        self._oracle.seat.bind(
            self._binding, self._key, round_.inputs, known.inputs, known.outputs, self._oracle.mutable()
        )

    def answer(self, round_: Round) -> Answer:
        """What it gives for a round's inputs."""
        return self._oracle.seat.call(self._binding, round_.inputs, (), warm_up=True)

    def changed_by_calls(self) -> tuple[str, ...]:
        """Names of the state that is no longer as it was when it was constructed."""
        pairs = zip(self._entries, self.state.tensors, strict=True)
        return tuple(e.name for e, t in pairs if not torch.equal(self._oracle.seat.read(e.tensor), t))

    def close(self) -> None:
        """Let it go, in the runner too if that still lives."""
        self.state.close()
        if self._oracle.seat.client.process.poll() is None:
            self._oracle.seat.release(self._binding)
            self._oracle.seat.discard(self._key)


@contextmanager
def twin(subject: Subject) -> Iterator[Twin]:
    """A twin of the workload's module, ready for its rounds."""
    bench, case = subject.bench, subject.case
    key = f"{case.key}/twin"
    constructed = bench.oracle.seat.construct(key, bench.oracle.init[case.key], bench.weights_seed)
    found = Twin(subject, constructed.state, key)
    try:
        found.bind(subject.rounds[0])
        yield found
    finally:
        found.close()
