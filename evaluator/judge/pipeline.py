"""One candidate through the gates, in order of cost; the first that fails ends the evaluation."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict

from evaluator.build.builder import Builder
from evaluator.build.outcome import Build
from evaluator.device.cpu import sealed_file
from evaluator.evaluation import Evaluation, Gate, GateResult, GateState, OutOfTime, Timing, Verdict
from evaluator.harness.wire import Load
from evaluator.judge import cases, roofline
from evaluator.judge.baselines import Seconds
from evaluator.judge.cases import Case
from evaluator.judge.changes import HIDDEN_CHANGES, NUMERIC_CHANGES, Change
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.oracle import Round
from evaluator.judge.policy import Policy
from evaluator.judge.seat import Seat
from evaluator.judge.seeds import Seeds
from evaluator.judge.timing import Timer
from evaluator.judge.verifier import Verifier
from evaluator.judge.workbench import Workbench
from evaluator.problem.candidate import Candidate, CandidateError, Language
from evaluator.problem.contract import Accuracy, Timeouts
from evaluator.problem.entry import parse_candidate

NOT_YET = "not available in this version"

LOOSE = Accuracy(ratio=1e5, ulps=1e5)
"""About one in a hundred in float32: what is left where the bound is not derived."""

Evidence = Mapping[str, object]


NOT_REQUIRED = frozenset({"own_uid", "memory_limit"})
"""Guarantees that an ordinary user's host cannot give; every other must hold for an evaluation to be promotable."""


def missing(guarantees: Mapping[str, bool]) -> tuple[str, ...]:
    """The guarantees that do not hold and without which nothing is promoted."""
    return tuple(name for name, holds in guarantees.items() if not holds and name not in NOT_REQUIRED)


class Pipeline:
    """Judges one candidate. `start` gives a seat in a fresh candidate runner."""

    def __init__(
        self,
        bench: Workbench,
        candidate: Candidate,
        policy: Policy,
        builder: Builder,
        start: Callable[[Timeouts], Seat],
        seconds: Callable[[], Seconds],
        defences: Defences,
        deadline: float | None = None,
    ) -> None:
        self.bench = bench
        self.contract = bench.contract
        self.candidate = candidate
        self.policy = policy
        self.builder = builder
        self.seeds = Seeds(public=not defences.secret_seeds)
        self.defences = defences
        self.gates: dict[Gate, GateResult] = {}
        self.stages: dict[str, float] = {}
        self.timing: Timing | None = None
        self._start = start
        self._seconds = seconds
        self._deadline = deadline
        self._product = -1
        self._seat: Seat | None = None
        self._constructed: set[str] = set()
        self._redrawn: list[str] = []
        self._not_taken: list[str] = []
        self._verifier = Verifier(self._accuracy(), defences)

    def run(self, guarantees: Mapping[str, bool], machine: Mapping[str, object]) -> Evaluation:
        """The whole judgement. Raises InfraError, InvalidProblem, and OutOfTime where a gate would begin late."""
        verdict, reason = Verdict.ACCEPTED, ""
        steps: dict[Gate, Callable[[], Evidence]] = {
            Gate.PARSE: self.parse,
            Gate.BUILD: self.build,
            Gate.VISIBLE: self.visible,
            Gate.HIDDEN: self.hidden,
            Gate.MEMORY: self.memory,
            Gate.NUMERICS: self.numerics,
            Gate.TIME: self.time,
        }
        try:
            for gate, step in steps.items():
                if gate in self.policy.mandatory:
                    self._keep_deadline()
                    self._step(gate, step)
        except Fault as e:
            verdict, reason = e.verdict, e.reason
        finally:
            self._close()
        return self._evaluation(verdict, reason, guarantees, machine)

    def _keep_deadline(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise OutOfTime("the deadline came before the judgement was complete")

    def _seconds_to_build(self) -> float:
        limit = self.contract.timeouts.build
        return limit if self._deadline is None else min(limit, self._deadline - time.monotonic())

    def _step(self, gate: Gate, step: Callable[[], Evidence]) -> None:
        start = time.perf_counter()
        try:
            self.gates[gate] = GateResult(GateState.PASSED, "", step())
        except Fault as e:
            evidence = {"output": e.text[-4000:]} if e.text else {}
            self.gates[gate] = GateResult(GateState.FAILED, e.reason, evidence)
            raise
        finally:
            self.stages[gate.value] = time.perf_counter() - start

    # --- gates --------------------------------------------------------------------------------------------

    def parse(self) -> Evidence:
        """One candidate, size limits, entry point."""
        try:
            self.entry = parse_candidate(self.candidate, self.bench.problem)
        except CandidateError as e:
            raise Fault(Verdict.COMPILE_ERROR, str(e)) from None
        style = "" if self.entry.style is None else self.entry.style.value
        return {"entry": self.entry.name, "style": style, "language": self.candidate.language.value}

    def build(self) -> Evidence:
        """Compiles in the builder; Python that compiles something at import is imported there first."""
        built = self._built()
        if built is None:
            return {"compiled": False}
        if built.timed_out:
            self._keep_deadline()
            raise Fault(
                Verdict.TIMEOUT, f"did not compile within {self.contract.timeouts.build:g} s", built.output
            )
        if built.product is None:
            raise Fault(Verdict.COMPILE_ERROR, built.complaint, built.output)
        self._product = sealed_file("product", built.product)
        warnings = [asdict(d) for d in built.diagnostics]
        return {"compiled": True, "seconds": built.seconds, "cached": built.cached, "warnings": warnings}

    def _built(self) -> Build | None:
        limit = self._seconds_to_build()
        if self.candidate.language is Language.PYTHON:
            return self.builder.imported(self.candidate, limit)
        return self.builder.build(self.candidate, limit)

    def visible(self) -> Evidence:
        """Right on the declared workloads."""
        self.bench.reseed(self.seeds)
        self._seat = self._loaded()
        for case in self.bench.cases:
            rounds = [self._round(case) for _ in range(self.policy.rounds)]
            self._answer(case, rounds)
        self._seat_now().leave()
        return {
            "workloads": [c.name for c in self.bench.cases],
            "calls": self._verifier.calls,
            "weights": len(self.bench.oracle.state[self.bench.cases[0].key].names),
        }

    def hidden(self) -> Evidence:
        """Right on other shapes, layouts and values, and with weights that are not ones and zeros."""
        chance = random.Random(self.seeds.next("hidden"))
        shapes = cases.hidden(self.contract, chance, self.policy.hidden_cases)
        for case in shapes:
            self._other_case(case)
        tried = [c.name for c in HIDDEN_CHANGES if self._changed(chance.choice(self.bench.cases), c)]
        tried += ["exact"] if self._exact(chance.choice(self.bench.cases)) else []
        self._try_other_weights()
        self._seat_now().leave()
        return {
            "shapes": len(shapes),
            "values": tried,
            "weights_redrawn": self._redrawn,
            "weights_not_taken": self._not_taken,
        }

    def memory(self) -> Evidence:
        """Poison, red zones, mutation, results that stay: noticed in every call so far."""
        self._verifier.fail_on_damage()
        return {"calls": self._verifier.calls}

    def numerics(self) -> Evidence:
        """Error against float64, with outliers, cancelling sums and skewed values."""
        tried = [c.name for case in self.bench.cases for c in NUMERIC_CHANGES if self._changed(case, c)]
        self._verifier.fail_on_damage()
        self._seat_now().leave()
        return {
            "largest_error_of_allowed": self._verifier.largest,
            "rms_error_of_allowed": self._verifier.rms,
            "values": sorted(set(tried)),
        }

    def time(self) -> Evidence:
        """Honest time against the strongest baseline."""
        self._close_seat()
        if self._redrawn and not self._not_taken:
            self.bench.redraw(self.seeds)
        seconds = self._seconds()
        timer = Timer(
            self.bench, self.policy, self.seeds, self._verifier, self._loaded, seconds, self.defences
        )
        self.timing = timer.time()
        return {
            "speedup": asdict(self.timing.speedup),
            "restarts_voided": timer.voided,
            "pairs_beside_other_work": timer.beside_others,
            "floors": roofline.evidence(timer.moved, self.bench.calibration.ceilings),
            "baselines_known": {n: dict(t) for n, t in seconds.items()},
            "baselines_unavailable": dict(self.bench.baselines.unavailable),
            "baselines_the_same": self.bench.baselines.the_same(seconds),
        }

    def _accuracy(self) -> Accuracy:
        return self.contract.accuracy if self.defences.derived_bound else LOOSE

    # --- parts of gates -----------------------------------------------------------------------------------

    def _loaded(self) -> Seat:
        """A candidate runner with the code imported."""
        first = self.bench.oracle.known[self.bench.cases[0].name]
        state = self.bench.oracle.state[self.bench.cases[0].key]
        compiled = self.candidate.language is Language.CPP
        load = Load(
            files={} if compiled else dict(self.candidate.files),
            main="candidate.py",
            entry=self.entry.name,
            style="" if self.entry.style is None else self.entry.style.value,
            library=compiled,
            threads=self.bench.cores.threads,
            inputs=len(first.inputs),
            states=len(state.names),
            outputs=len(first.outputs),
        )
        with ExitStack() as undo:
            seat = self._start(self.contract.timeouts)
            undo.callback(seat.close)
            seat.load(load, [self._product] if self._product >= 0 else [])
            undo.pop_all()
        return seat

    def _seat_now(self) -> Seat:
        assert self._seat is not None
        return self._seat

    def _round(self, case: Case) -> Round:
        return self.bench.nominal(case, self.seeds)

    def _answer(self, case: Case, rounds: list[Round]) -> None:
        """Bind a case and verify a call for each round. The first may be slow: lazy builds belong there."""
        seat = self._seat_now()
        self.bench.seat_candidate(seat, case, rounds[0], self._constructed)
        for i, round_ in enumerate(rounds):
            answer = seat.call(case.name, round_.inputs, round_.samples, warm_up=i == 0)
            self._verifier.verify(case.name, round_, answer)

    def _other_case(self, case: Case) -> None:
        self.bench.admit(case, self.seeds)
        try:
            self._answer(case, [self._round(case) for _ in range(2)])
            self._seat_now().release(case.name)
        finally:
            self.bench.dismiss(case)

    def _changed(self, case: Case, change: Change) -> bool:
        """Verify a call on changed values; whether there were any that the reference can compute."""
        round_ = self.bench.round(case, self.seeds, change)
        if round_ is None:
            return False
        answer = self._seat_now().call(case.name, round_.inputs, round_.samples)
        self._verifier.verify(case.name, round_, answer)
        return True

    def _exact(self, case: Case) -> bool:
        """Verify a call bit by bit; whether there are values on which that can be asked."""
        round_ = self.bench.exact_round(case, self.seeds)
        if round_ is None:
            return False
        answer = self._seat_now().call(case.name, round_.inputs, round_.samples)
        self._verifier.verify(case.name, round_, answer)
        return True

    def _try_other_weights(self) -> None:
        """Weights of ones and zeros replaced by others, on both sides, where the candidate takes them by name.

        Where it does not, nothing shows that it uses them at all, and it is not promotable.
        """
        for case in {c.key: c for c in self.bench.cases}.values():
            other = self.bench.redrawn(case, self.seeds)
            if other is not None:
                try:
                    self._on_redrawn(other)
                finally:
                    self.bench.dismiss(other)

    def _on_redrawn(self, case: Case) -> None:
        round_ = self._round(case)
        seat = self._seat_now()
        taken = self.bench.seat_candidate(seat, case, round_, self._constructed)
        names = self.bench.oracle.redrawn[case.key]
        missing = [n for n in names if n not in taken]
        answer = seat.call(case.name, round_.inputs, round_.samples, warm_up=True)
        try:
            self._verifier.verify(case.name, round_, answer)
            self._redrawn += names
        except Fault as e:
            if not missing or e.verdict is not Verdict.INCORRECT:
                raise
            self._not_taken += (
                missing  # it cannot know their values; those that do not matter it need not take
            )
        seat.release(case.name)

    # --- the end ------------------------------------------------------------------------------------------

    def _close_seat(self) -> None:
        if self._seat is not None:
            self._seat.close()
            self._seat = None

    def _close(self) -> None:
        self._close_seat()
        if self._product >= 0:
            os.close(self._product)
            self._product = -1

    def _evaluation(
        self, verdict: Verdict, reason: str, guarantees: Mapping[str, bool], machine: Mapping[str, object]
    ) -> Evaluation:
        for gate in Gate:
            if gate not in self.gates:
                self.gates[gate] = GateResult(GateState.NOT_RUN, self._why_not_run(gate, verdict))
        ran = all(self.gates[g].state is GateState.PASSED for g in self.policy.mandatory)
        return Evaluation(
            problem=self.bench.problem.digest,
            candidate=self.candidate.digest,
            policy=self.policy.name,
            verdict=verdict,
            reason=reason,
            gates=self.gates,
            timing=self.timing,
            promotable=verdict is Verdict.ACCEPTED
            and ran
            and not self.bench.baselines.unavailable
            and not self._not_taken
            and not self.defences.off
            and not missing(guarantees),
            guarantees=guarantees,
            machine=dict(machine) | ({"defences_off": list(self.defences.off)} if self.defences.off else {}),
            stages=self.stages,
            seed=self.seeds.master,
        )

    def _why_not_run(self, gate: Gate, verdict: Verdict) -> str:
        implemented = {
            Gate.PARSE,
            Gate.BUILD,
            Gate.VISIBLE,
            Gate.HIDDEN,
            Gate.MEMORY,
            Gate.NUMERICS,
            Gate.TIME,
        }
        if gate not in implemented:
            return NOT_YET
        if gate not in self.policy.mandatory:
            return f"not part of the policy {self.policy.name!r}"
        return f"an earlier gate failed ({verdict.value})"
