"""The judgement of one candidate: verdict, gates with evidence, timing. Plain frozen data."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluator.canonical import plain, rebuilt


class InfraError(Exception):
    """The machine, not the candidate, failed. Retried on a clean worker, never shown to a model."""


class InvalidProblem(Exception):
    """The problem itself cannot be judged; the text says why and what to change."""


class OutOfTime(Exception):
    """The deadline passed before there was a verdict. Says nothing about the candidate."""


class Verdict(enum.StrEnum):
    """What became of a candidate."""

    ACCEPTED = "accepted"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    INCORRECT = "incorrect"
    INTEGRITY = "integrity"
    NO_SCORE = "no_score"
    FORBIDDEN = "forbidden"
    TIMEOUT = "timeout"
    RESOURCE_LIMIT = "resource_limit"
    INVALID_PROBLEM = "invalid_problem"
    INFRA_ERROR = "infra_error"


class Gate(enum.StrEnum):
    """Every gate, in order of cost. The values are the names in records."""

    PARSE = "parse"
    RULES = "rules"
    BUILD = "build"
    VISIBLE = "visible"
    HIDDEN = "hidden"
    MEMORY = "memory"
    NUMERICS = "numerics"
    GRADIENTS = "gradients"
    REGISTRATION = "registration"
    SYMBOLIC = "symbolic"
    STATE = "state"
    DETERMINISM = "determinism"
    TIME = "time"
    PROFILE = "profile"
    INTEGRATION = "integration"


class GateState(enum.StrEnum):
    """Whether a gate was passed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True)
class GateResult:
    """One gate's outcome. `reason` is empty only when passed; `evidence` is JSON data."""

    state: GateState
    reason: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is not GateState.PASSED and not self.reason:
            raise ValueError(f"a gate that is {self.state} needs a reason")


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"not an interval: {self}")


@dataclass(frozen=True)
class WorkloadTiming:
    """Times of one workload in seconds per call, and the speedup against the strongest baseline."""

    workload: str
    weight: float
    candidate: Interval
    baselines: Mapping[str, Interval]
    strongest: str
    speedup: Interval
    samples: int
    voided: int


@dataclass(frozen=True)
class Timing:
    """All workloads, and the weighted geometric mean of their speedups.

    way: how time was taken ("released calls"); resolution: seconds below which this machine cannot tell.
    """

    way: str
    mode: str
    threads: int
    resolution: float
    constant: float
    restarts: int
    workloads: tuple[WorkloadTiming, ...]
    speedup: Interval

    @property
    def baseline(self) -> str:
        """The baseline that is strongest on the largest share of the weight."""
        share: dict[str, float] = {}
        for w in self.workloads:
            share[w.strongest] = share.get(w.strongest, 0.0) + w.weight
        return max(share, key=lambda k: share[k])


@dataclass(frozen=True)
class Evaluation:
    """The judgement of one candidate on one problem under one policy."""

    problem: str
    candidate: str
    policy: str
    verdict: Verdict
    reason: str
    gates: Mapping[Gate, GateResult]
    timing: Timing | None
    promotable: bool
    guarantees: Mapping[str, bool]
    machine: Mapping[str, object]
    stages: Mapping[str, float] = field(default_factory=dict)
    seed: str = ""

    def __post_init__(self) -> None:
        missing = [g.value for g in Gate if g not in self.gates]
        if missing:
            raise ValueError(f"an evaluation lists every gate; missing: {missing}")
        if self.verdict is Verdict.ACCEPTED:
            failed = [g.value for g, r in self.gates.items() if r.state is GateState.FAILED]
            if failed or self.timing is None:
                raise ValueError(f"accepted needs a timing and no failed gate (failed: {failed})")
        elif not self.reason:
            raise ValueError(f"verdict {self.verdict} needs a reason")
        if self.promotable and self.verdict is not Verdict.ACCEPTED:
            raise ValueError("only an accepted evaluation is promotable")

    def found_something(self, floor: float) -> bool:
        """Accepted, surely faster on the mean, and no workload's speedup below the contract's floor."""
        if self.verdict is not Verdict.ACCEPTED or self.timing is None:
            return False
        return self.timing.speedup.low > 1.0 and all(w.speedup.value >= floor for w in self.timing.workloads)

    def to_json(self) -> dict[str, object]:
        """The record, as plain JSON data; `from_json` reads it back."""
        data = plain(self)
        assert isinstance(data, dict)
        data["gates"] = {g.value: plain(self.gates[g]) for g in Gate}
        return data

    @staticmethod
    def from_json(data: Mapping[str, object]) -> Evaluation:
        """Rebuild a record made by `to_json`. Raises TypeError or ValueError on anything else."""
        return rebuilt(Evaluation, data)
