"""Candidate and baselines in alternation, by a plan fixed in advance.

Per restart of the candidate's runner and per workload: warm-up calls, then pairs. In a pair every contestant is
called once on the same fresh values, in random order, and every answer is verified. A pair in which any of them was
disturbed is voided and made up for. Between pairs, at random, come calls on the changed values of the gates before
(verified, not timed): what runs here can then not be told from what runs there. After the candidate's death the
baseline is timed by itself, and counts as the faster of both. Where it was slower beside the candidate by more than
equal things differ on this machine, or too few pairs were left undisturbed, the restart is void, and a spare one
takes its place.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from evaluator.device.load import others_run, spare_cpus
from evaluator.evaluation import Gate, Timing, Verdict
from evaluator.judge.baselines import Seconds
from evaluator.judge.cases import Case
from evaluator.judge.changes import ALL_CHANGES, Change
from evaluator.judge.client import Released
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.oracle import Round
from evaluator.judge.policy import Policy
from evaluator.judge.roofline import Moved, moved, require_possible
from evaluator.judge.seat import Seat
from evaluator.judge.seeds import Seeds
from evaluator.judge.settling import settle
from evaluator.judge.summary import Conditions, Samples, summarise
from evaluator.judge.verifier import Verifier
from evaluator.judge.workbench import Workbench

SOLO_CALLS = 5
SOLO_TRIES = 3
TRIES_PER_PAIR = 3
SPARE_RESTARTS = 2
WIDTHS = 4
"""Medians of few calls beside and alone may differ by so many times what long series of equal things do."""
WIDEST = 0.25


class Void(Exception):
    """A restart in which other work, or the candidate itself, disturbed the measurement; the text says how."""


class Timer:
    """Times one candidate. `start` gives a loaded seat in a fresh candidate runner. Raises Fault."""

    def __init__(
        self,
        bench: Workbench,
        policy: Policy,
        seeds: Seeds,
        verifier: Verifier,
        start: Callable[[], Seat],
        seconds: Seconds,
        defences: Defences,
    ) -> None:
        self.bench = bench
        self.policy = policy
        self.seeds = seeds
        self.verifier = verifier
        self.start = start
        self.defences = defences
        self.contenders = {c.name: bench.baselines.contenders(c, seconds) for c in bench.cases}
        self.chance = random.Random(seeds.next("order"))
        self.style = ""
        self.voided: list[str] = []
        self.moved: dict[str, Moved] = {}
        self.beside_others = 0
        self._spare = spare_cpus(len({bench.cores.judge, *bench.cores.runners}))
        self._plan: dict[str, int] = {}
        self._decks: dict[str, list[Change]] = {}

    def time(self) -> Timing:
        """All restarts, then the statistics."""
        if self.bench.cores.shared and self.defences.quiet_samples:
            raise Fault(
                Verdict.NO_SCORE,
                "the judge has no core of its own, so nothing can be timed; allow this process two CPUs or more",
            )
        valid: list[dict[str, Samples]] = []
        for _ in range(self.policy.restarts + SPARE_RESTARTS):
            try:
                valid.append(self._restart())
            except Void as e:
                self.voided.append(str(e))
            if len(valid) == self.policy.restarts:
                return self._summary(valid)
        raise Fault(
            Verdict.NO_SCORE,
            f"{len(self.voided)} restarts were disturbed, the last because {self.voided[-1]}; time it on a quieter "
            "machine",
        )

    def _restart(self) -> dict[str, Samples]:
        seat = self.start()
        constructed: set[str] = set()
        try:
            samples = {c.name: self._workload(seat, c, constructed) for c in self.bench.cases}
            seat.leave()
        finally:
            seat.close()
        for case in self.bench.cases:
            self._confirm_alone(case, samples[case.name])
        return samples

    def _workload(self, seat: Seat, case: Case, constructed: set[str]) -> Samples:
        start = time.perf_counter()
        warm = [self._round(case) for _ in range(self.policy.warm_ups)]
        self.bench.seat_candidate(seat, case, warm[0], constructed)
        self.style = seat.style
        self.moved.setdefault(case.name, moved(warm[0], warm[-1]))
        for i, round_ in enumerate(warm):
            self._verified(seat, case, round_, warm_up=i == 0)
        pairs = self._planned(case, (time.perf_counter() - start) / len(warm))
        self._settle_all(seat, case, warm)
        surprises = self._surprises(case, pairs)
        samples = Samples(baselines={n: [] for n in self.contenders[case.name]})
        for _ in range(TRIES_PER_PAIR * pairs):
            self._pair(seat, case, samples)
            self._surprise(seat, case, surprises.pop(len(samples.candidate) - 1, None))
            if len(samples.candidate) == pairs:
                break
        if len(samples.candidate) < self.policy.least_pairs:
            tried = samples.voided + len(samples.candidate)
            raise Void(f"{samples.voided} of {tried} pairs on {case.name!r} were disturbed by other work")
        seat.release(case.name)
        return samples

    def _planned(self, case: Case, round_seconds: float) -> int:
        """How many pairs fit: by what the first restart's warm-up rounds cost, before any time was looked at."""
        if case.name not in self._plan:
            affordable = int(
                self.policy.seconds_per_workload / self.policy.restarts / max(round_seconds, 1e-6)
            )
            self._plan[case.name] = max(self.policy.least_pairs, min(self.policy.pairs, affordable))
        return self._plan[case.name]

    def _settle_all(self, seat: Seat, case: Case, warm: list[Round]) -> None:
        """Untimed calls of every contestant until its allocator has the memory that it goes on using."""
        seats = [seat, *(self.bench.baselines.seat(name) for name in self.contenders[case.name])]
        for each in seats:
            settle(lambda number, each=each: self._unread(each, case, warm[number % len(warm)]))  # type: ignore[misc]

    def _unread(self, seat: Seat, case: Case, round_: Round) -> Released:
        return seat.time(case.name, round_.inputs, round_.samples)

    def _round(self, case: Case) -> Round:
        return self.bench.nominal(case, self.seeds)

    def _verified(self, seat: Seat, case: Case, round_: Round, warm_up: bool = False) -> Released:
        answer = seat.call(case.name, round_.inputs, round_.samples, warm_up)
        self.verifier.verify(case.name, round_, answer)
        self.verifier.fail_on_damage()
        return answer.released

    def _timed(self, seat: Seat, case: Case, round_: Round) -> Released:
        if self.defences.every_call_verified:
            return self._verified(seat, case, round_)
        return self._unread(seat, case, round_)

    def _pair(self, seat: Seat, case: Case, samples: Samples) -> None:
        round_ = self._round(case)
        self.beside_others += others_run(self._spare)
        order = ["", *self.contenders[case.name]]
        self.chance.shuffle(order)
        calls = {}
        for name in order:
            if name:
                calls[name] = self.bench.baselines.call(name, case, round_.inputs, round_.samples)
            else:
                calls[name] = self._timed(seat, case, round_)
        if self.defences.quiet_samples and any(c.disturbed for c in calls.values()):
            samples.voided += 1
            return
        samples.candidate.append(self._seconds(case, calls[""], seat.style))
        for name, times in samples.baselines.items():
            times.append(self._seconds(case, calls[name], "functional"))

    def _surprises(self, case: Case, pairs: int) -> dict[int, Change]:
        """After which pair comes a call on changed values, and how changed.

        Over all restarts it is every kind that the gates before have tried on this workload.
        """
        if Gate.HIDDEN not in self.policy.mandatory:
            return {}
        kinds = self.bench.oracle.known[case.name].own
        tried = [c for c in ALL_CHANGES if c.name in kinds]
        share = min(pairs, -(-len(tried) // self.policy.restarts))
        deck = self._decks.setdefault(case.name, [])
        if len(deck) < share:
            deck += self.chance.sample(tried, len(tried))
        dealt, deck[:] = deck[:share], deck[share:]
        return dict(zip(self.chance.sample(range(pairs), share), dealt, strict=True))

    def _surprise(self, seat: Seat, case: Case, change: Change | None) -> None:
        round_ = None if change is None else self.bench.round(case, self.seeds, change)
        if round_ is not None:
            self._verified(seat, case, round_)

    def _seconds(self, case: Case, call: Released, style: str) -> float:
        return max(call.nanoseconds * 1e-9 - self.bench.baselines.constant(case, style), 1e-7)

    # --- beside and alone ---------------------------------------------------------------------------------

    def _confirm_alone(self, case: Case, samples: Samples) -> None:
        """Hold each baseline against itself without the candidate; take its faster time. Raises Void."""
        if not self.defences.quiet_samples:
            return
        width = min(WIDTHS * self.bench.calibration.noise, WIDEST)
        for name, times in samples.baselines.items():
            beside = statistics.median(times)
            alone = self._alone(name, case, beside)
            if beside > (1 + width) * alone and beside - alone > self.bench.calibration.resolution:
                raise Void(
                    f"{name} was slower beside the candidate than alone: {beside * 1e6:.0f} and "
                    f"{alone * 1e6:.0f} us on {case.name!r}"
                )
            if beside > alone:
                samples.baselines[name] = [t * alone / beside for t in times]

    def _alone(self, name: str, case: Case, beside: float) -> float:
        """The baseline's time by itself, measured again where it seems faster than beside the candidate.

        The slowest counts: a machine has fast moments, but what a candidate does to its neighbour ends with it.
        """
        slowest = 0.0
        for _ in range(SOLO_TRIES):
            slowest = max(slowest, self.bench.baselines.alone(name, case, SOLO_CALLS))
            if slowest >= beside:
                break
        return slowest

    # --- the end ------------------------------------------------------------------------------------------

    def _summary(self, restarts: list[dict[str, Samples]]) -> Timing:
        calibration = self.bench.calibration
        conditions = Conditions(
            mode=self.bench.contract.mode,
            threads=self.bench.cores.threads,
            resolution=calibration.resolution,
            constant=calibration.constant(self.style),
        )
        timing = summarise(self.bench.cases, restarts, conditions, self.seeds.next("bootstrap"))
        for row in timing.workloads:
            if row.candidate.value < timing.resolution and self.defences.least_constant:
                raise Fault(
                    Verdict.NO_SCORE,
                    f"{row.candidate.value * 1e6:.0f} us on {row.workload!r} is below what this machine can tell "
                    f"({timing.resolution * 1e6:.0f} us); declare larger workloads",
                )
        if calibration.ceilings is not None:
            require_possible(timing.workloads, self.moved, calibration.ceilings)
        return timing
