"""The reference, in a runner of its own: what outputs should be, how exact the reference itself is, its weights.

Never timed. A Fault here is the problem's fault; callers turn it into InvalidProblem.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch

from evaluator.evaluation import Verdict
from evaluator.harness.wire import Draw, Drawn, Load, Located, Scalar, State, Trace, Traced
from evaluator.judge import cases, draw
from evaluator.judge.arena import Input, TensorSpec
from evaluator.judge.cases import Case
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import OwnError, Truth, all_finite, own_error, sample_indices, truth
from evaluator.judge.seat import Answer, Seat
from evaluator.judge.state import StateArena
from evaluator.problem.contract import Contract, Problem, ReferenceStyle
from evaluator.problem.expressions import sizes

MANY = 4096
ROUNDS_FEW, ROUNDS_MANY = 16, 3
TRACE_SECONDS = 60.0


@dataclass(frozen=True)
class Round:
    """One set of inputs and what the outputs should be. `own` is the yardstick for its kind of values, `samples`
    the flat indices per output that are read inside the clock. Inputs that the operation changes count as outputs
    after those it returns. `reuses`: the reference itself does not keep an earlier result as it was. `native` is
    what the reference gave at its own dtype."""

    inputs: list[Input]
    truths: tuple[Truth, ...]
    own: tuple[OwnError, ...]
    samples: tuple[torch.Tensor, ...]
    native: tuple[torch.Tensor, ...]
    reuses: bool = False

    def widened(self) -> tuple[OwnError, ...]:
        """The yardstick, or the reference's own error on these very inputs where it is larger.

        Outputs that nearly cancel have a scale that differs much from draw to draw. Not kept: a yardstick that
        took the largest of all rounds would allow more the longer a judge runs.
        """
        rows = zip(self.own, self.truths, self.native, strict=True)
        return tuple(own.widened(own_error(t, n)) for own, t, n in rows)


@dataclass
class Known:
    """What has been learnt of a case: where its inputs and outputs lie (those returned, those changed in place),
    the reference's own error per kind of values ("" is nominal), and whether results of its lie in memory that
    changes, as views of inputs do."""

    inputs: tuple[TensorSpec | None, ...]
    outputs: tuple[TensorSpec, ...]
    changed: tuple[TensorSpec, ...] = ()
    own: dict[str, tuple[OwnError, ...]] = field(default_factory=dict)
    doubles: bool = True
    singles: bool = False
    reuses: bool = False


class Unusable(Exception):
    """The reference gives nothing to compare with on these values (not finite); try others."""


class Oracle:
    """The reference runner of a problem."""

    def __init__(self, problem: Problem, seat: Seat, threads: int) -> None:
        self.problem = problem
        self.contract: Contract = problem.contract
        self.seat = seat
        self.init: dict[str, str] = {}
        self.state: dict[str, StateArena] = {}
        self.redrawn: dict[str, tuple[str, ...]] = {}
        self.known: dict[str, Known] = {}
        self._numbers: dict[str, list[Input]] = {}
        self.chance = torch.Generator().manual_seed(secrets.randbits(63))
        reference = problem.reference
        seat.load(
            Load(
                files={"reference.py": reference.source},
                main="reference.py",
                entry=reference.entry,
                style="module" if reference.style is ReferenceStyle.MODULE else "functional",
                library=False,
                threads=threads,
                inputs=0 if self.contract.inputs is None else len(self.contract.inputs),
                states=0,
                outputs=0,
            )
        )

    def construct(self, case: Case, seed: int) -> None:
        """Make (again) the instance that a case is called on, and read its weights. Lets its cases go."""
        constructed = self.seat.construct(case.key, case.init, seed)
        self.init[case.key] = constructed.init
        self._forget(case.key)
        self.state[case.key] = self.copied(constructed.state)

    def copied(self, state: Sequence[State]) -> StateArena:
        """A copy of an instance's weights as they are now. Raises Fault where they cannot be read."""
        self.seat.check_readable([entry.tensor for entry in state])
        return StateArena(state, lambda entry: self.seat.read(entry.tensor))

    def _forget(self, key: str) -> None:
        old = self.state.pop(key, None)
        if old is not None:
            old.close()

    def discard(self, key: str) -> None:
        """Let an instance go whose cases have been released."""
        self._forget(key)
        del self.init[key]
        self.redrawn.pop(key, None)
        self.seat.discard(key)

    def redraw_constants(self, key: str, seed: int) -> bool:
        """Give an instance's constant weights other values (see StateArena); whether there were any."""
        names = self.state[key].redraw_constants(torch.Generator().manual_seed(seed))
        self.redrawn[key] = names
        if names:
            self.seat.set_state(key, self.state[key])
        return bool(names)

    def draw(self, case: Case, seed: int) -> list[Input]:
        """A fresh set of inputs: declared ones by the judge, others by the file's get_inputs.

        Python numbers stay as they were first drawn for the case: they are part of what is bound (and compiled).
        """
        fresh = self.fresh(case, seed)
        numbers: list[Input] = [v for v in fresh if not isinstance(v, torch.Tensor)]
        kept = iter(self._numbers.setdefault(case.name, numbers))
        return [v if isinstance(v, torch.Tensor) else next(kept) for v in fresh]

    def fresh(self, case: Case, seed: int) -> list[Input]:
        """As `draw`, with Python numbers drawn anew."""
        if self.contract.inputs is not None:
            return draw.draw(self.contract.inputs, case.axes, seed)
        drawn = self.seat.client.request(Draw(seed), Drawn, self.seat.timeouts.call).values
        self.seat.check_readable([v for v in drawn if isinstance(v, Located)])
        values = [v.value if isinstance(v, Scalar) else self.seat.read(v) for v in drawn]
        self._check_same_shapes(case, values)
        return values

    def _check_same_shapes(self, case: Case, values: Sequence[Input]) -> None:
        known = self.known.get(case.name)
        if known is None:
            return
        expected = [None if s is None else (s.shape, s.dtype) for s in known.inputs]
        actual = [(tuple(v.shape), _name(v)) if isinstance(v, torch.Tensor) else None for v in values]
        if expected != actual:
            raise Fault(Verdict.RUNTIME_ERROR, "get_inputs gives tensors of other shapes or dtypes each time")

    def learn(self, case: Case, seed: int) -> Known:
        """Where a case's inputs and outputs lie, found by running it once."""
        known = self.known.get(case.name)
        if known is not None:
            return known
        values = self.draw(case, seed)
        if self.contract.inputs is not None:
            inputs = cases.input_specs(self.contract, case)
        else:
            shapes = [(tuple(v.shape), _name(v)) if isinstance(v, torch.Tensor) else None for v in values]
            inputs = cases.drawn_specs(shapes)
        self._bind(case, values, inputs, None)
        answer = self.seat.call(case.name, values, (), warm_up=True)
        outputs = tuple(TensorSpec(at.shape, at.strides, at.dtype) for at in answer.released.outcome.outputs)
        changed = tuple(s for s in (inputs[i] for i in self.mutable()) if s is not None)
        if not outputs and not changed:
            raise Fault(Verdict.RUNTIME_ERROR, "the reference returns no tensor")
        self._check_declared(case, outputs)
        known = self.known[case.name] = Known(inputs, outputs, changed)
        self._bind(case, values, inputs, outputs)
        known.doubles = self._can(_double(case), values)
        known.singles = _any_float64(outputs) and self._can(_single(case), values)
        return known

    def _check_declared(self, case: Case, outputs: Sequence[TensorSpec]) -> None:
        declared = self.contract.outputs
        if declared is None:
            return
        expected = [(sizes(o.shape, case.axes), o.dtype) for o in declared]
        actual = [(o.shape, o.dtype) for o in outputs]
        if expected != actual:
            raise Fault(
                Verdict.RUNTIME_ERROR,
                f"at {case.name!r} the reference returns {actual}; the contract declares {expected}",
            )

    def _bind(
        self,
        case: Case,
        values: Sequence[Input],
        inputs: Sequence[TensorSpec | None],
        outputs: Sequence[TensorSpec] | None,
    ) -> None:
        mutable = self.mutable()
        self.seat.bind(case.name, case.key, values, inputs, outputs, mutable)
        self.seat.bind(_double(case), case.key, values, inputs, None, mutable, variant="double")
        if _any_float64(outputs or ()):
            self.seat.bind(_single(case), case.key, values, inputs, None, mutable, variant="single")

    def mutable(self) -> tuple[int, ...]:
        """Indices of the inputs that the contract lets the operation change."""
        names = [i.name for i in self.contract.inputs or ()]
        return tuple(names.index(n) for n in self.contract.mutates)

    def _can(self, bound: str, values: Sequence[Input]) -> bool:
        try:
            self.seat.call(bound, values, (), warm_up=True)
        except Fault as e:
            if e.verdict is not Verdict.RUNTIME_ERROR or self.seat.client.process.poll() is not None:
                raise
            return False
        return True

    def rebind(self, case: Case, seed: int) -> None:
        """Bind a case's calls again, after its instance was made anew or given other weights."""
        known = self.learn(case, seed)
        self._bind(case, self.draw(case, seed), known.inputs, known.outputs)

    def release(self, case: Case) -> None:
        """Let a case go: its arenas and what was learnt of it."""
        self.seat.release(case.name)
        self.seat.release(_double(case))
        self.seat.release(_single(case))
        del self.known[case.name], self._numbers[case.name]

    def answer(self, case: Case, inputs: list[Input]) -> Answer:
        """The reference at its own dtype."""
        answer = self.seat.call(case.name, inputs, ())
        self.known[case.name].reuses |= bool(answer.reused)
        return answer

    def truths(
        self, case: Case, inputs: list[Input], native: Sequence[torch.Tensor], finite: bool = True
    ) -> tuple[Truth, ...]:
        """What the outputs should be. Raises Unusable where the reference is not finite and has to be."""
        known = self.known[case.name]
        if finite and not all(all_finite(n) for n in native if n.is_floating_point()):
            raise Unusable(_not_finite(native))
        doubles: Sequence[torch.Tensor | None] = [None] * len(native)
        if known.doubles:
            outputs = self.seat.call(_double(case), inputs, ()).outputs
            doubles = outputs if len(outputs) == len(native) else doubles
        rows = zip(known.outputs + known.changed, native, doubles, strict=True)
        return tuple(truth(spec, n, d) for spec, n, d in rows)

    def round(
        self,
        case: Case,
        inputs: list[Input],
        kind: str,
        more: Iterable[list[Input]] = (),
        finite: bool = True,
    ) -> Round:
        """Inputs and what belongs to them. The first round of a kind measures own error, with `more` sets; it stays.

        Raises Unusable.
        """
        native = self.answer(case, inputs).outputs
        found = self.truths(case, inputs, native, finite)
        known = self.known[case.name]
        if kind not in known.own:
            own = self._own(case, inputs, found, native)
            for other in more:
                own = self._widened(case, other, own, finite)
            known.own[kind] = own
        own = known.own[kind]
        if known.singles:  # nothing in the round itself would tell its error
            now = self._own(case, inputs, found, native)
            own = tuple(a.widened(b) for a, b in zip(own, now, strict=True))
        samples = tuple(sample_indices(t, self.chance) for t in found)
        return Round(inputs, found, own, samples, native, known.reuses)

    def _widened(
        self, case: Case, inputs: list[Input], own: tuple[OwnError, ...], finite: bool
    ) -> tuple[OwnError, ...]:
        native = self.answer(case, inputs).outputs
        found = self.truths(case, inputs, native, finite)
        others = self._own(case, inputs, found, native)
        return tuple(a.widened(b) for a, b in zip(own, others, strict=True))

    def _own(
        self, case: Case, inputs: list[Input], found: Sequence[Truth], native: Sequence[torch.Tensor]
    ) -> tuple[OwnError, ...]:
        """The reference's own error in this round; that of float64 outputs is told by how it does in float32."""
        singles: Sequence[torch.Tensor] = native
        if self.known[case.name].singles:
            outputs = self.seat.call(_single(case), inputs, ()).outputs
            singles = outputs if len(outputs) == len(native) else native
        return tuple(own_error(t, n, s) for t, n, s in zip(found, native, singles, strict=True))

    def calibration_rounds(self, case: Case) -> int:
        """How many more sets measure own error well: few elements need more of them."""
        known = self.known[case.name]
        smallest = min(math.prod(o.shape) for o in known.outputs + known.changed)
        return ROUNDS_MANY if smallest >= MANY else ROUNDS_FEW

    def trace_data(self, case: Case) -> dict[str, object]:
        """The traced graph as JSON data. Raises Fault where it cannot be traced, ValueError or RecursionError where
        what came is no graph."""
        traced = self.seat.client.request(Trace(self.seat.number(case.name)), Traced, TRACE_SECONDS)
        data = json.loads(traced.graph)
        if not isinstance(data, dict):
            raise ValueError("a graph is an object")
        return data

    def close(self) -> None:
        """End the runner and free its memory."""
        self.seat.close()
        for key in list(self.state):
            self._forget(key)


def _not_finite(native: Sequence[torch.Tensor]) -> str:
    counts = [int((~torch.isfinite(n)).sum()) for n in native]
    rows = enumerate(zip(counts, native, strict=True))
    return ", ".join(f"{odd} of {n.numel()} elements of output {i}" for i, (odd, n) in rows if odd)


def _double(case: Case) -> str:
    return f"{case.name}/double"


def _single(case: Case) -> str:
    return f"{case.name}/single"


def _any_float64(outputs: Sequence[TensorSpec]) -> bool:
    return any(o.dtype == "float64" for o in outputs)


def _name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
