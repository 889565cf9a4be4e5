"""Whether a module's weights influence its outputs.

Asked on a twin, with weights of ones and zeros replaced by others, as they are while a candidate is judged: what only
matters once another weight is no longer zero counts as mattering.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from evaluator.judge.findings import Finding, Subject
from evaluator.judge.numerics import Truth, compare, truth
from evaluator.judge.state import StateArena
from evaluator.judge.twin import Twin, twin

SPREAD = 0.5
SECONDS = 3.0
MOST_TRIED = 32
NAMED = 4


def weights_matter(subject: Subject) -> Finding:
    """Whether changing all parameters changes the outputs; there must be some.

    One without influence is no fault (a bias before a normalisation has none): the finding names those among a sample.
    Raises Fault where the reference fails.
    """
    name = f"weights matter on {subject.case.name}"
    with twin(subject) as other:
        return _judged(_Weights(subject, other), name)


def has_weights(state: StateArena) -> bool:
    """Whether there are any floating parameters."""
    return bool(_floating(state))


def _judged(weights: _Weights, name: str) -> Finding:
    if not weights.finite:
        return Finding(
            name,
            False,
            "with other values for weights and buffers that are all equal, as they are drawn while a candidate is "
            "judged, the outputs are not finite: initialise them with values that vary",
        )
    if not weights.matter(weights.all):
        return Finding(
            name,
            False,
            "no weight influences the outputs, so a candidate may leave all of them out: remove them from the module, "
            "or initialise it so that they matter",
        )
    tried = weights.sample()
    idle = [weights.name(n) for n in tried if not weights.matter([n])]
    more = f" and {len(idle) - NAMED} more" if len(idle) > NAMED else ""
    return Finding(
        name,
        True,
        f"without influence, so a candidate may leave them out: {', '.join(idle[:NAMED])}{more}"
        if idle
        else f"each of the {len(tried)} that were tried does",
    )


class _Weights:
    """A twin's parameters, changed some at a time and put back."""

    def __init__(self, subject: Subject, other: Twin) -> None:
        self._subject = subject
        self._twin = other
        self._generator = torch.Generator().manual_seed(subject.seeds.next("weights"))
        other.state.redraw_constants(self._generator)
        other.give(other.state)
        answer = other.answer(subject.rounds[0])
        self._seconds = answer.released.nanoseconds * 1e-9
        self._truths = [self._truth(n, out) for n, out in enumerate(answer.outputs)]
        self.finite = all(bool(torch.isfinite(t.values).all()) for t in self._truths)
        self.all = _floating(other.state)

    def _truth(self, number: int, output: torch.Tensor) -> Truth:
        return truth(self._subject.rounds[0].truths[number].spec, output, output.double())

    def name(self, number: int) -> str:
        """A parameter's name in the state dict."""
        return self._twin.state.names[number]

    def sample(self) -> list[int]:
        """Parameters to try one by one: as many as a few seconds allow."""
        count = min(MOST_TRIED, max(1, int(SECONDS / self._seconds)), len(self.all))
        order = torch.randperm(len(self.all), generator=self._generator).tolist()
        return [self.all[i] for i in order[:count]]

    def matter(self, numbers: Sequence[int]) -> bool:
        """Whether other values of these parameters alone give an answer that would be wrong."""
        tensors = [self._twin.state.tensors[n] for n in numbers]
        before = [t.clone() for t in tensors]
        for tensor in tensors:
            tensor.add_(self._noise(tensor))
        self._twin.give(self._twin.state)
        outputs = self._twin.answer(self._subject.rounds[0]).outputs
        for tensor, values in zip(tensors, before, strict=True):
            tensor.copy_(values)
        return not all(self._same(n, out) for n, out in enumerate(outputs))

    def _noise(self, tensor: torch.Tensor) -> torch.Tensor:
        size = SPREAD * float(tensor.double().square().mean().sqrt())
        return (torch.randn(tensor.shape, generator=self._generator) * size).to(tensor.dtype)

    def _same(self, number: int, output: torch.Tensor) -> bool:
        own, accuracy = self._subject.rounds[0].own[number], self._subject.bench.contract.accuracy
        return not compare(output, self._truths[number], own, accuracy).reason


def _floating(state: StateArena) -> list[int]:
    rows = zip(state.parameters, state.tensors, strict=True)
    return [i for i, (parameter, t) in enumerate(rows) if parameter and t.is_floating_point() and t.numel()]
