"""Whether an answered call was right, and if not, in which way: wrong, late, or an earlier answer played again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from evaluator.evaluation import Verdict
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import Comparison, OwnError, Truth, Yardstick, compare, compare_sample
from evaluator.judge.oracle import Round
from evaluator.judge.seat import Answer
from evaluator.problem.contract import Accuracy

REMEMBERED = 4
TELLING = 16


@dataclass
class Verifier:
    """Verifies every call of one candidate on one problem, and keeps what the memory and numerics gates report."""

    accuracy: Accuracy
    defences: Defences
    calls: int = 0
    largest: float = 0.0
    rms: float = 0.0
    damages: list[str] = field(default_factory=list)
    _earlier: dict[str, deque[tuple[Truth, ...]]] = field(default_factory=dict)

    def verify(self, case: str, round_: Round, answer: Answer) -> None:
        """Raises Fault where the values are wrong; takes note of damage."""
        self.calls += 1
        self.damages += self._damage(round_, answer)
        found, in_time = self._held(answer, round_, round_.own)
        if not in_time or any(f.reason for f in found):
            found, in_time = self._held(answer, round_, round_.widened())
        self.largest = max(self.largest, *(f.largest for f in found))
        self.rms = max(self.rms, *(f.rms for f in found))
        wrong = next((f"output {number}: {f.reason}" for number, f in enumerate(found) if f.reason), "")
        if wrong:
            raise self._wrong(case, wrong, round_, answer)
        if not in_time:
            raise Fault(
                Verdict.INTEGRITY, "said it was done before it was: outputs became right only after the clock"
            )
        self._earlier.setdefault(case, deque(maxlen=REMEMBERED)).append(round_.truths)

    def fail_on_damage(self) -> None:
        """Raises Fault where anything but the outputs was written."""
        if self.damages:
            raise Fault(Verdict.INCORRECT, self.damages[0])

    def _damage(self, round_: Round, answer: Answer) -> list[str]:
        noticed = (
            (self.defences.nothing_else_written, answer.damage),
            (self.defences.results_stay and not round_.reuses, answer.reused),
        )
        return [text for watched, text in noticed if watched and text]

    def _held(self, answer: Answer, round_: Round, own: Sequence[OwnError]) -> tuple[list[Comparison], bool]:
        """How every output compares, and whether the sample was right while the clock ran."""
        wholes = zip(answer.outputs, round_.truths, own, strict=True)
        found = [compare(actual, t, o, self.accuracy) for actual, t, o in wholes]
        rows = zip(answer.sampled, round_.samples, round_.truths, own, strict=True)
        return found, all(compare_sample(a, i, t, o, self.accuracy) for a, i, t, o in rows)

    def _wrong(self, case: str, reason: str, round_: Round, answer: Answer) -> Fault:
        for earlier in self._earlier.get(case, ()):
            if _telling(earlier, round_.truths) and _replayed(earlier, answer.outputs):
                return Fault(Verdict.INTEGRITY, "returned the answer of an earlier call")
        return Fault(Verdict.INCORRECT, reason)


def _telling(earlier: tuple[Truth, ...], now: tuple[Truth, ...]) -> bool:
    """Whether an answer that equals an earlier one can hardly do so by accident, as a few wrong bools can."""
    if any(t.yardstick is not Yardstick.EXACT for t in now):
        return True
    return sum(int((e.values != t.values).sum()) for e, t in zip(earlier, now, strict=True)) >= TELLING


def _replayed(earlier: tuple[Truth, ...], outputs: tuple[torch.Tensor, ...]) -> bool:
    """Whether outputs are the true answer to other inputs, as nearly as rounding allows."""
    for t, actual in zip(earlier, outputs, strict=True):
        expected = t.values.to(actual.dtype)
        if not torch.allclose(actual.double(), expected.double(), rtol=1e-4, atol=1e-5 * t.scale):
            return False
    return True
