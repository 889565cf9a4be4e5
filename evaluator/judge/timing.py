"""Candidate and baselines in alternation, by a plan fixed in advance: samples, then speedups with intervals.

Per restart of the candidate's runner and per workload: warm-up calls, then pairs. In a pair every contestant is
called once on the same fresh values, in random order, and every answer is verified. A pair in which any of them was
disturbed is voided and made up for. Between pairs, at random, come calls on the changed values of the gates before
(verified, not timed): what runs here can then not be told from what runs there. After the candidate's death the
baseline is timed by itself, and counts as the faster of both; where it was slower beside the candidate by more than
noise explains, the restart is voided.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from evaluator.evaluation import Gate, Interval, Timing, Verdict, WorkloadTiming
from evaluator.judge.cases import Case
from evaluator.judge.changes import ALL_CHANGES, Change
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.oracle import Round
from evaluator.judge.policy import Policy
from evaluator.judge.seat import Answer, Seat
from evaluator.judge.seeds import Seeds
from evaluator.judge.settling import settle
from evaluator.judge.statistics import median_interval, speedup_intervals
from evaluator.judge.verifier import Verifier
from evaluator.judge.workbench import Seconds, Workbench

SOLO_CALLS = 5
SOLO_TRIES = 3
TRIES_PER_PAIR = 3
SPARE_RESTARTS = 2
SLOWED = 1.25


@dataclass
class Samples:
    """Valid times of one workload in one restart, by contestant, pair by pair; and how many pairs were voided."""

    candidate: list[float] = field(default_factory=list)
    baselines: dict[str, list[float]] = field(default_factory=dict)
    voided: int = 0


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
        self.contenders = {c.name: bench.contenders(c, seconds) for c in bench.cases}
        self.chance = random.Random(seeds.next("order"))
        self.style = ""
        self.voided_restarts = 0
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
            samples = self._restart()
            if samples is None:
                self.voided_restarts += 1
            else:
                valid.append(samples)
            if len(valid) == self.policy.restarts:
                return self._summarise(valid)
        raise Fault(
            Verdict.NO_SCORE,
            f"{self.voided_restarts} restarts were disturbed: the baseline was slower beside the candidate than "
            "alone, or other work disturbed the machine",
        )

    def _restart(self) -> dict[str, Samples] | None:
        seat = self.start()
        constructed: set[str] = set()
        try:
            samples = {c.name: self._workload(seat, c, constructed) for c in self.bench.cases}
            seat.leave()
        finally:
            seat.close()
        return samples if all(self._confirm_alone(c, samples[c.name]) for c in self.bench.cases) else None

    def _workload(self, seat: Seat, case: Case, constructed: set[str]) -> Samples:
        start = time.perf_counter()
        warm = [self._round(case) for _ in range(self.policy.warm_ups)]
        self.bench.seat_candidate(seat, case, warm[0], constructed)
        self.style = seat.style
        for i, round_ in enumerate(warm):
            self._verified(seat, case, round_, warm_up=i == 0)
        pairs = self._planned(start, len(warm))
        self._settle_all(seat, case, warm)
        surprises = self._surprises(case, pairs)
        samples = Samples(baselines={n: [] for n in self.contenders[case.name]})
        for _ in range(TRIES_PER_PAIR * pairs):
            self._pair(seat, case, samples)
            self._surprise(seat, case, surprises.pop(len(samples.candidate) - 1, None))
            if len(samples.candidate) == pairs:
                break
        if len(samples.candidate) < self.policy.least_pairs:
            raise Fault(
                Verdict.NO_SCORE,
                f"{samples.voided} of {samples.voided + len(samples.candidate)} pairs on {case.name!r} were "
                "disturbed by other work; time it on a quieter machine",
            )
        seat.release(case.name)
        return samples

    def _settle_all(self, seat: Seat, case: Case, warm: list[Round]) -> None:
        """Untimed calls of every contestant until its allocator has the memory that it goes on using."""
        settle(lambda i: self._timed(seat, case, warm[i % len(warm)]))
        for name in self.contenders[case.name]:
            settle(partial(self._again, name, case, warm))

    def _again(self, name: str, case: Case, warm: list[Round], number: int) -> Answer:
        return self.bench.baseline_call(name, case, warm[number % len(warm)])

    def _planned(self, start: float, rounds: int) -> int:
        """How many pairs fit: from what a warm-up round cost, before any time was looked at."""
        each = (time.perf_counter() - start) / rounds
        affordable = int(self.policy.seconds_per_workload / self.policy.restarts / max(each, 1e-6))
        return max(self.policy.least_pairs, min(self.policy.pairs, affordable))

    def _round(self, case: Case) -> Round:
        return self.bench.nominal(case, self.seeds)

    def _verified(self, seat: Seat, case: Case, round_: Round, warm_up: bool = False) -> Answer:
        answer = seat.call(case.name, round_.inputs, round_.samples, warm_up)
        self.verifier.verify(case.name, round_, answer)
        self.verifier.fail_on_damage()
        return answer

    def _timed(self, seat: Seat, case: Case, round_: Round) -> Answer:
        if self.defences.every_call_verified:
            return self._verified(seat, case, round_)
        return seat.call(case.name, round_.inputs, round_.samples)

    def _pair(self, seat: Seat, case: Case, samples: Samples) -> None:
        round_ = self._round(case)
        order = ["", *self.contenders[case.name]]
        self.chance.shuffle(order)
        answers = {}
        for name in order:
            if name:
                answers[name] = self.bench.baseline_call(name, case, round_)
            else:
                answers[name] = self._timed(seat, case, round_)
        if self.defences.quiet_samples and any(a.released.disturbed for a in answers.values()):
            samples.voided += 1
            return
        samples.candidate.append(self._seconds(answers[""], seat.style))
        for name, times in samples.baselines.items():
            times.append(self._seconds(answers[name], "functional"))

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

    def _seconds(self, answer: Answer, style: str) -> float:
        constant = self.bench.calibration.constant(style)
        return max(answer.released.nanoseconds * 1e-9 - constant, 1e-7)

    def _confirm_alone(self, case: Case, samples: Samples) -> bool:
        """Hold each baseline against itself without the candidate; take its faster time. False voids."""
        if not self.defences.quiet_samples:
            return True
        for name, times in samples.baselines.items():
            beside = statistics.median(times)
            alone = self._alone(name, case, beside)
            if beside > SLOWED * alone and beside - alone > self.bench.calibration.resolution:
                return False
            if beside > alone:
                samples.baselines[name] = [t * alone / beside for t in times]
        return True

    def _alone(self, name: str, case: Case, beside: float) -> float:
        """The baseline's time by itself, measured again where it seems faster than beside the candidate.

        The slowest counts: a machine has fast moments, but what a candidate does to its neighbour ends with it.
        """
        slowest = 0.0
        for _ in range(SOLO_TRIES):
            slowest = max(slowest, self.bench.alone(name, case, self.seeds, SOLO_CALLS))
            if slowest >= beside:
                break
        return slowest

    # --- statistics ---------------------------------------------------------------------------------------

    def _summarise(self, restarts: list[dict[str, Samples]]) -> Timing:
        seed = self.seeds.next("bootstrap")
        resolution = self.bench.calibration.resolution
        candidate = {
            c.name: median_interval([r[c.name].candidate for r in restarts], seed) for c in self.bench.cases
        }
        baselines = {
            c.name: {
                n: median_interval([r[c.name].baselines[n] for r in restarts], seed)
                for n in self.contenders[c.name]
            }
            for c in self.bench.cases
        }
        strongest = {case: min(found, key=lambda n: found[n].value) for case, found in baselines.items()}
        for case, found in candidate.items():
            if found.value < resolution and self.defences.quiet_samples:
                raise Fault(
                    Verdict.NO_SCORE,
                    f"{found.value * 1e6:.0f} us on {case!r} is below what this machine can tell "
                    f"({resolution * 1e6:.0f} us); declare larger workloads",
                )
        pairs = {
            case: [list(zip(r[case].baselines[best], r[case].candidate, strict=True)) for r in restarts]
            for case, best in strongest.items()
        }
        weights = {c.name: c.weight for c in self.bench.cases}
        per_workload, overall = speedup_intervals(pairs, weights, seed)
        rows = tuple(
            self._row(
                c, candidate[c.name], baselines[c.name], strongest[c.name], per_workload[c.name], restarts
            )
            for c in self.bench.cases
        )
        return Timing(
            way="released calls",
            mode=self.bench.contract.mode,
            threads=self.bench.cores.threads,
            resolution=resolution,
            constant=self.bench.calibration.constant(self.style),
            restarts=len(restarts),
            workloads=rows,
            speedup=overall,
        )

    def _row(
        self,
        case: Case,
        candidate: Interval,
        baselines: dict[str, Interval],
        strongest: str,
        speedup: Interval,
        restarts: list[dict[str, Samples]],
    ) -> WorkloadTiming:
        return WorkloadTiming(
            workload=case.name,
            weight=case.weight,
            candidate=candidate,
            baselines=baselines,
            strongest=strongest,
            speedup=speedup,
            samples=sum(len(r[case.name].candidate) for r in restarts),
            voided=sum(r[case.name].voided for r in restarts),
        )
