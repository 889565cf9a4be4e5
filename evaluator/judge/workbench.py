"""Everything of one problem that outlives a candidate: the reference's runner, the baselines' runners, weights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import torch

from evaluator.evaluation import InvalidProblem, Verdict
from evaluator.harness.tensors import DTYPES
from evaluator.judge import cases
from evaluator.judge.arena import Input
from evaluator.judge.baselines import Baselines
from evaluator.judge.calibration import Calibration
from evaluator.judge.cases import Case, one_per_key
from evaluator.judge.changes import Change, changed, integers
from evaluator.judge.clock import Cores
from evaluator.judge.defences import Defences
from evaluator.judge.exact import exactly, integer_size
from evaluator.judge.faults import Fault
from evaluator.judge.numerics import OwnError, Truth, Yardstick
from evaluator.judge.oracle import Oracle, Round, Unusable
from evaluator.judge.seat import Seat
from evaluator.judge.seeds import Seeds
from evaluator.problem.contract import Problem, Timeouts
from evaluator.problem.graph import Graph

REDRAWS = 5
REFERENCE_PATIENCE = 3.0
NOT_INSTALLED = "; install it beside torch where references run, or write the reference without it"
REMEDIES = {
    Verdict.RESOURCE_LIMIT: "; make its sizes smaller (--set) or raise `memory_bytes`",
    Verdict.TIMEOUT: "; make its sizes smaller (--set) or raise `timeouts`",
}


class Workbench:
    """The trusted side of one problem. `start(timeouts, variant)` gives a seat in a fresh reference runner.

    Raises InvalidProblem where the reference fails.
    """

    def __init__(
        self,
        problem: Problem,
        start: Callable[[Timeouts, str], Seat],
        cores: Cores,
        calibration: Calibration,
        say: Callable[[str], None],
        defences: Defences,
    ) -> None:
        self.problem = problem
        self.contract = problem.contract
        self.cores = cores
        self.calibration = calibration
        self.cases = cases.visible(problem.contract)
        self._start = start
        self._defences = defences
        self._stale: dict[tuple[str, str], Round | None] = {}
        self._graphs: dict[str, Graph | None] = {}
        self._seed = 0
        t = self.contract.timeouts
        self._patience = Timeouts(
            t.load, t.warm_up * REFERENCE_PATIENCE, t.call * REFERENCE_PATIENCE, t.build
        )
        self.oracle = self._oracle()
        self.baselines = Baselines(
            problem=problem,
            cases=self.cases,
            oracle=self.oracle,
            start=lambda variant: start(self._patience, variant),
            seed=lambda: self._seed,
            threads=cores.threads,
            calibration=calibration,
            say=say,
        )

    def _oracle(self) -> Oracle:
        with ExitStack() as undo:
            seat = self._start(self._patience, "plain")
            undo.callback(seat.close)
            try:
                oracle = Oracle(self.problem, seat, self.cores.threads)
                undo.callback(oracle.close)
                self._learn_all(oracle)
            except Fault as e:
                raise self.invalid(e) from None
            undo.pop_all()
        return oracle

    def _learn_all(self, oracle: Oracle) -> None:
        seeds = Seeds()
        self._seed = seeds.next("weights")
        for case in one_per_key(self.cases):
            oracle.construct(case, self._seed)
        for case in self.cases:
            oracle.learn(case, seeds.next("inputs"))

    def invalid(self, fault: Fault) -> InvalidProblem:
        """The reference's fault, in words for its author."""
        missing = "ModuleNotFoundError" in fault.reason
        remedy = NOT_INSTALLED if missing else REMEDIES.get(fault.verdict, "")
        return InvalidProblem(f"the reference failed ({fault.verdict.value}): {fault.reason}{remedy}")

    @property
    def weights_seed(self) -> int:
        """The seed that constructors get now."""
        return self._seed

    # --- rounds -------------------------------------------------------------------------------------------

    def round(self, case: Case, seeds: Seeds, change: Change | None = None) -> Round | None:
        """Fresh inputs with what they should give; None where no values of this kind give anything finite.

        Raises InvalidProblem where nominal values do not.
        """
        if not self._defences.fresh_values:
            key = (case.name, "" if change is None else change.name)
            if key not in self._stale:
                self._stale[key] = self.fresh_round(case, seeds, change)
            return self._stale[key]
        return self.fresh_round(case, seeds, change)

    def nominal(self, case: Case, seeds: Seeds) -> Round:
        """A round of nominal values. Raises InvalidProblem."""
        round_ = self.round(case, seeds)
        assert round_ is not None
        return round_

    def fresh_round(self, case: Case, seeds: Seeds, change: Change | None = None) -> Round | None:
        """As `round`, whatever defence is off."""
        seen = ""
        for _ in range(REDRAWS):
            try:
                return self._round(case, seeds, change)
            except Unusable as e:
                if change is not None:
                    return None
                seen = str(e)
            except Fault as e:
                if change is not None and self.oracle.seat.client.process.poll() is None:
                    return None
                raise self.invalid(e) from None
        raise InvalidProblem(
            f"the reference's outputs are not finite on {case.name!r} ({seen}): give its inputs values for which they "
            "are, or let the reference handle these"
        )

    def _round(self, case: Case, seeds: Seeds, change: Change | None) -> Round:
        kind = "" if change is None else change.name
        known = self.oracle.known[case.name]
        slack = 1.0 if change is None else change.slack
        more = 0 if kind in known.own or slack > 1.0 else self.oracle.calibration_rounds(case)
        drawn = self.inputs(case, seeds, change)
        others = (self.inputs(case, seeds, change) for _ in range(more))
        if change is None:
            return self.oracle.round(case, drawn, kind, others)
        round_ = self.oracle.round(case, drawn, kind, others, change.finite)
        return replace(
            round_, own=tuple(_loosened(t, o, change) for t, o in zip(round_.truths, round_.own, strict=True))
        )

    def exact_round(self, case: Case, seeds: Seeds) -> Round | None:
        """A round on small integers whose outputs are to be equalled bit by bit; None where nothing is that exact."""
        graph = None if self.oracle.state[case.key].names else self.graph(case)
        size = None if graph is None else integer_size(graph)
        if size is None:
            return None
        round_ = self.round(case, seeds, integers(size))
        return None if round_ is None else exactly(round_, size)

    def graph(self, case: Case) -> Graph | None:
        """The traced graph of a case; None where it cannot be traced. Raises InvalidProblem where that ends it."""
        if case.name not in self._graphs:
            try:
                self._graphs[case.name] = Graph.from_json(self.oracle.trace_data(case))
            except Fault as e:
                if self.oracle.seat.client.process.poll() is not None:
                    raise self.invalid(e) from None
                self._graphs[case.name] = None
            except (ValueError, RecursionError):
                self._graphs[case.name] = None
        return self._graphs[case.name]

    def inputs(self, case: Case, seeds: Seeds, change: Change | None) -> list[Input]:
        """Fresh inputs, changed where a change is asked for. Raises Unusable where it touches none of them."""
        values = self.oracle.draw(case, seeds.next("inputs"))
        if change is None:
            return values
        other = changed(values, self.contract.inputs, case.axes, change, seeds.next("change"))
        if other is None:
            raise Unusable
        return other

    # --- weights ------------------------------------------------------------------------------------------

    def reseed(self, seeds: Seeds) -> None:
        """New weights for reference and baselines, from a new seed, which candidates' constructors get, too."""
        if not any(s.names for s in self.oracle.state.values()):
            return
        self._seed = seeds.next("weights")
        try:
            for case in one_per_key(self.cases):
                self.oracle.construct(case, self._seed)
            for case in self.cases:
                self.oracle.rebind(case, seeds.next("inputs"))
        except Fault as e:
            raise self.invalid(e) from None
        self.baselines.give_state()

    def redraw(self, seeds: Seeds) -> None:
        """Other values for weights of ones and zeros, for reference and baselines, until the next `reseed`.

        What is timed must not be what can be told from what is tried: it uses such weights too.
        """
        try:
            for case in one_per_key(self.cases):
                self.oracle.redraw_constants(case.key, seeds.next("weights"))
            for case in self.cases:
                self.oracle.rebind(case, seeds.next("inputs"))
        except Fault as e:
            raise self.invalid(e) from None
        self.baselines.give_state()

    def admit(self, case: Case, seeds: Seeds) -> None:
        """Make a case that is not one of the visible ones ready in the oracle. Raises InvalidProblem.

        To be given up by `dismiss`.
        """
        try:
            if case.key not in self._visible_keys():
                self.oracle.construct(case, self._seed)
            self.oracle.learn(case, seeds.next("inputs"))
        except Fault as e:
            raise self.invalid(e) from None

    def dismiss(self, case: Case) -> None:
        """Let a case go that is not one of the visible ones, and its instance where none of them is called on it.

        Raises InvalidProblem; never for a reference that has ended, which whoever calls it next is told.
        """
        if self.oracle.seat.client.process.poll() is not None:
            return
        try:
            self.oracle.release(case)
            if case.key not in self._visible_keys():
                self.oracle.discard(case.key)
        except Fault as e:
            raise self.invalid(e) from None

    def _visible_keys(self) -> set[str]:
        return {c.key for c in self.cases}

    def redrawn(self, case: Case, seeds: Seeds) -> Case | None:
        """The case on an instance whose constant weights have other values; None where it has no such weights.

        To be given up by `dismiss`. Raises InvalidProblem.
        """
        other = replace(case, name=f"{case.name}/redrawn", key=f"{case.key}/redrawn")
        try:
            self.oracle.construct(other, self._seed)
            if not self.oracle.redraw_constants(other.key, seeds.next("weights")):
                self.oracle.discard(other.key)
                return None
            self.oracle.learn(other, seeds.next("inputs"))
            self.oracle.rebind(other, seeds.next("inputs"))
        except Fault as e:
            raise self.invalid(e) from None
        return other

    def seat_candidate(self, seat: Seat, case: Case, round_: Round, constructed: set[str]) -> tuple[str, ...]:
        """Construct, give weights to and bind a candidate's seat for a case; names of the weights it took."""
        taken: tuple[str, ...] = ()
        if case.key not in constructed:
            seat.construct(case.key, self.oracle.init[case.key], self._seed)
            if self.oracle.state[case.key].names:
                taken = seat.set_state(case.key, self.oracle.state[case.key])
            constructed.add(case.key)
        known = self.oracle.known[case.name]
        seat.bind(case.name, case.key, round_.inputs, known.inputs, known.outputs, self.oracle.mutable())
        return taken

    def close(self) -> None:
        """End every runner of this problem."""
        self.baselines.close()
        self.oracle.close()


def _loosened(truth: Truth, own: OwnError, change: Change) -> OwnError:
    """The yardstick for a change: its own error times its slack, and no less than the slack in ulps."""
    if change.slack == 1.0 or truth.yardstick is Yardstick.EXACT:
        return own
    eps = torch.finfo(DTYPES[truth.spec.dtype]).eps
    return own.widened(OwnError(eps, eps)).times(change.slack)
