"""What a user would run instead of the candidate: the reference as it is, and compiled, each in a runner of its own."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import torch

from evaluator.build.tools import compiler
from evaluator.evaluation import InfraError, InvalidProblem
from evaluator.harness.wire import Load, Trace, Traced
from evaluator.judge.arena import Input
from evaluator.judge.calibration import Calibration
from evaluator.judge.cases import Case, one_per_key
from evaluator.judge.client import Released
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import SAMPLES
from evaluator.judge.oracle import Oracle
from evaluator.judge.seat import Seat
from evaluator.judge.seeds import Seeds
from evaluator.judge.settling import settle
from evaluator.problem.contract import Problem
from evaluator.problem.graph import Graph

EAGER, COMPILE, AUTOTUNED = "torch_eager", "torch_compile", "torch_compile_max"
VARIANTS = {EAGER: "plain", COMPILE: "compile", AUTOTUNED: "compile_max"}
CHOSEN_BY_TRYING = frozenset(
    {"mm", "addmm", "bmm", "baddbmm", "convolution", "_scaled_dot_product_flash_attention_for_cpu"}
)
"""Operations for which max-autotune has several kernels to choose from on a CPU; all else is compiled the same."""
TRACE_SECONDS = 60.0
CALLS = 7
NEAR = 1.25
"""How much slower than the best known a baseline may have seemed in a few calls and still be the strongest."""

Seconds = Mapping[str, Mapping[str, float]]
"""Baseline → workload → seconds per call."""


class Baselines:
    """The baselines of a problem. A runner is started and warmed up at its first use, and kept.

    start: gives a seat in a fresh reference runner, for a variant; seed: of the weights, as it is now.
    """

    def __init__(
        self,
        problem: Problem,
        cases: Sequence[Case],
        oracle: Oracle,
        start: Callable[[str], Seat],
        seed: Callable[[], int],
        threads: int,
        calibration: Calibration,
        say: Callable[[str], None],
    ) -> None:
        self.unavailable: dict[str, str] = {}
        self._problem = problem
        self._cases = cases
        self._oracle = oracle
        self._start = start
        self._seed = seed
        self._threads = threads
        self._calibration = calibration
        self._say = say
        self._seats: dict[str, Seat] = {}

    def seat(self, name: str) -> Seat:
        """The runner of a baseline. Raises Fault where it cannot run."""
        if name not in self._seats:
            self._say(f"warming up {name}")
            self._seats[name] = self._started(name)
        return self._seats[name]

    def _started(self, name: str) -> Seat:
        with ExitStack() as undo:
            seat = self._start(VARIANTS[name])
            undo.callback(seat.close)
            seat.load(self._load())
            for case in one_per_key(self._cases):
                seat.construct(case.key, self._oracle.init[case.key], self._seed())
            self._give_state(seat)
            for case in self._cases:
                self._warm_up(seat, case)
            undo.pop_all()
        return seat

    def _load(self) -> Load:
        reference = self._problem.reference
        known = self._oracle.known[self._cases[0].name]
        return Load(
            files={"reference.py": reference.source},
            main="reference.py",
            entry=reference.entry,
            style=reference.style.value,
            library=False,
            threads=self._threads,
            inputs=len(known.inputs),
            states=0,
            outputs=len(known.outputs),
        )

    def _warm_up(self, seat: Seat, case: Case) -> None:
        values = self._oracle.draw(case, Seeds().next("inputs"))
        known = self._oracle.known[case.name]
        seat.bind(case.name, case.key, values, known.inputs, known.outputs, self._oracle.mutable())
        settle(lambda number: seat.time(case.name, values, (), warm_up=number == 0))

    def give_state(self) -> None:
        """Hand the reference's weights, as they are now, to every baseline that runs."""
        for seat in self._seats.values():
            self._give_state(seat)

    def _give_state(self, seat: Seat) -> None:
        for case in one_per_key(self._cases):
            state = self._oracle.state[case.key]
            if state.names:
                seat.set_state(case.key, state)

    def measure(self) -> Seconds:
        """Every baseline of the contract on every workload: its fastest call, since other work only adds to times, and
        one that seemed slow would never be timed beside a candidate. One that cannot run is put into `unavailable`.

        Raises InvalidProblem where none can, or InfraError where that is for want of a compiler.
        """
        found: dict[str, dict[str, float]] = {}
        for name in self.different():
            try:
                found[name] = {c.name: min(self._solo(name, c, CALLS)) for c in self._cases}
            except Fault as e:
                self.unavailable[name] = e.reason
        if not found:
            self._none_runs()
        return found

    def the_same(self, seconds: Seconds) -> list[str]:
        """The baselines of the contract that were left out of `seconds` because another is the same code."""
        names = self._problem.contract.baselines
        return [n for n in names if n not in seconds and n not in self.unavailable]

    def different(self) -> Sequence[str]:
        """The baselines of the contract, without max-autotune where that compiles the same code as torch_compile."""
        names = self._problem.contract.baselines
        if COMPILE in names and AUTOTUNED in names and not self._has_a_choice():
            return [n for n in names if n != AUTOTUNED]
        return names

    def _has_a_choice(self) -> bool:
        """Whether max-autotune may choose between kernels; true where the reference cannot be traced.

        Traced in a runner of its own: fake tensors end some references.
        """
        case = self._cases[0]
        try:
            seat = self._started(EAGER)
        except Fault:
            return True
        try:
            request = Trace(seat.number(case.name))
            traced = seat.client.request(request, Traced, TRACE_SECONDS)
            graph = Graph.from_json(json.loads(traced.graph))
        except (Fault, ValueError, RecursionError):
            return True
        finally:
            seat.close()
        return any(node.op.split(".")[1] in CHOSEN_BY_TRYING for node in graph.nodes if "." in node.op)

    def _none_runs(self) -> None:
        if any(VARIANTS[name] != "plain" for name in self.unavailable):
            compiler()
        reasons = "; ".join(f"{name}: {reason}" for name, reason in self.unavailable.items())
        raise InvalidProblem(
            f"no baseline of the contract can run ({reasons}); name one that does, such as torch_eager"
        )

    def _solo(self, name: str, case: Case, calls: int) -> list[float]:
        """Times of a baseline called by itself, in seconds, the constant taken off: of the calls that were not
        disturbed, or of all where all were. Raises Fault.

        The reference runs on the same core between the calls, as it does beside a candidate, so that caches are in
        the same state.
        """
        seat = self.seat(name)
        inputs = self._oracle.draw(case, Seeds().next("inputs"))
        places = self._places(case)
        made = []
        for _ in range(calls):
            self._oracle.answer(case, inputs)
            made.append(seat.time(case.name, inputs, places))
        quiet = [call for call in made if not call.disturbed] or made
        constant = self.constant(case, "functional")
        return [max(call.nanoseconds * 1e-9 - constant, 1e-9) for call in quiet]

    def _places(self, case: Case) -> list[torch.Tensor]:
        """Flat indices of each output, as many as a sample has."""
        known = self._oracle.known[case.name]
        counts = [math.prod(spec.shape) for spec in known.outputs + known.changed]
        return [torch.randint(n, (SAMPLES,)) if n else torch.empty(0, dtype=torch.int64) for n in counts]

    def constant(self, case: Case, style: str) -> float:
        """What doing nothing costs in a style. Where nothing is returned, nothing is read from the runner either."""
        return self._calibration.constant(style if self._oracle.known[case.name].outputs else "destination")

    def call(
        self, name: str, case: Case, values: Sequence[Input], places: Sequence[torch.Tensor]
    ) -> Released:
        """One call of a baseline, sampled at `places`. Raises InfraError where it fails: when measured it did not."""
        try:
            return self.seat(name).time(case.name, values, places)
        except Fault as e:
            raise InfraError(f"the baseline {name} failed beside a candidate: {e.reason}") from None

    def alone(self, name: str, case: Case, calls: int) -> float:
        """The median time by itself of a baseline that was measured before. Raises InfraError."""
        try:
            return statistics.median(self._solo(name, case, calls))
        except Fault as e:
            raise InfraError(f"the baseline {name} failed: {e.reason}") from None

    def contenders(self, case: Case, seconds: Seconds) -> tuple[str, ...]:
        """The baselines that may be the strongest on a workload: the best known, and those near it."""
        best = min(times[case.name] for times in seconds.values())
        return tuple(n for n, times in seconds.items() if times[case.name] <= NEAR * best)

    def close(self) -> None:
        """End their runners."""
        for seat in self._seats.values():
            seat.close()
