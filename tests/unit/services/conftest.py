"""Working doubles of what a command works with: an evaluator that judges by reading, and a real database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent.api import Proposal, Proposer, View
from agent.floors import Bandwidth
from evaluator.evaluation import (
    Evaluation,
    Gate,
    GateResult,
    GateState,
    InfraError,
    Interval,
    InvalidProblem,
    Timing,
    Verdict,
    WorkloadTiming,
)
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import Problem
from evaluator.problem.graph import Graph
from sandbox.api import Guarantee, SandboxUnavailable
from services.cli import main
from services.db import upgrade
from services.db.engine import Database
from services.db.store import SqlStore
from services.settings import Settings
from services.workshop import Evaluator, Say

PROBLEM = '''"""Softmax over rows."""

import torch

CONTRACT = {
    "axes": {"rows": {"range": [1, 4096]}, "cols": 128},
    "workloads": [
        {"name": "small", "axes": {"rows": 64}},
        {"name": "large", "axes": {"rows": 2048}, "weight": 3.0},
    ],
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
}

SCALE = 1.0


def reference(x):
    return torch.softmax(x * SCALE, dim=-1)
'''


def judged(
    problem: Problem, candidate: Candidate, verdict: Verdict, reason: str = "", speedup: float = 1.0
) -> Evaluation:
    """A whole evaluation: accepted with this speedup on every workload, or failed at a gate with `reason`."""
    passed = GateResult(GateState.PASSED, evidence={"checked": 3, "worst": {"error": 1e-7}})
    gates = dict.fromkeys(Gate, passed) | {
        g: GateResult(GateState.NOT_RUN, "not in this policy") for g in (Gate.PROFILE, Gate.STATE)
    }
    if verdict is not Verdict.ACCEPTED:
        gates[Gate.VISIBLE] = GateResult(GateState.FAILED, reason)
    return Evaluation(
        problem=problem.digest,
        candidate=candidate.digest,
        policy="search",
        verdict=verdict,
        reason=reason,
        gates=gates,
        timing=timing(problem, speedup) if verdict is Verdict.ACCEPTED else None,
        promotable=verdict is Verdict.ACCEPTED,
        guarantees={"own_uid": True, "landlock": False},
        machine={"processor": "a double", "cores": 2, "versions": {"torch": "2.13.0"}},
        stages={"build": 0.2, "time": 3.0},
    )


def timing(problem: Problem, speedup: float) -> Timing:
    """Times whose ratio is `speedup`, give or take two per cent."""

    def around(value: float) -> Interval:
        return Interval(value, value * 0.98, value * 1.02)

    workloads = tuple(
        WorkloadTiming(
            workload=w.name,
            weight=w.weight,
            candidate=around(1e-3 / speedup),
            baselines={"torch_eager": around(1.5e-3), "torch_compile": around(1e-3)},
            strongest="torch_compile",
            speedup=around(speedup),
            samples=200,
            voided=1,
        )
        for w in problem.contract.workloads
    )
    return Timing("released calls", "eager", 1, 5e-5, 1e-5, 3, workloads, around(speedup))


@dataclass(frozen=True)
class DoubleFinding:
    """See `services.workshop.Finding`."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class DoubleReport:
    """See `services.workshop.ProblemReport`."""

    ok: bool
    findings: tuple[DoubleFinding, ...]


@dataclass(frozen=True)
class DoubleBandwidth:
    """See `services.workshop.Bandwidths`."""

    working_set: int = 8 << 20
    rate: float = 12e9


@dataclass(frozen=True)
class DoubleCeilings:
    """See `services.workshop.Ceilings`."""

    bandwidths: Sequence[DoubleBandwidth] = (DoubleBandwidth(),)
    float32_rate: float = 96e9


@dataclass(frozen=True)
class DoubleCalibrated:
    """See `services.workshop.Calibrated`."""

    functional: float = 21e-6
    destination: float = 14e-6
    resolution: float = 150e-6
    noise: float = 0.03
    ceilings: DoubleCeilings | None = None

    def to_json(self) -> Mapping[str, object]:
        """One figure is enough."""
        return {"resolution": self.resolution, "ceilings": self.ceilings is not None}


@dataclass
class DoubleEvaluator:
    """Judges a candidate by its first line: `# VERDICT JSON`, where JSON holds speedup, reason, confirm.

    unsaid: the verdict on one that does not begin so.
    """

    threads: int = 1
    machine: Mapping[str, object] = field(default_factory=dict)
    valid: bool = True
    unsaid: str = 'incorrect {"reason": "says nothing of itself"}'
    before: Callable[[Candidate], None] = lambda candidate: None

    def check(self, problem: Problem) -> DoubleReport:
        """As `valid` says."""
        detail = "" if self.valid else "the reference returns NaN"
        return DoubleReport(self.valid, (DoubleFinding("finite", self.valid, detail),))

    def trace(self, problem: Problem) -> Mapping[str, Graph]:
        """No graph."""
        return {}

    bandwidth: Bandwidth | None = None
    calibration: DoubleCalibrated = DoubleCalibrated()

    def calibrate(self) -> DoubleCalibrated:
        """Finds ceilings, too."""
        self.calibration = DoubleCalibrated(ceilings=DoubleCeilings())
        return self.calibration

    generates: Callable[[], Candidate | None] = lambda: None

    def generated(self, problem: Problem, deadline: float | None = None) -> Candidate | None:
        """As `generates` says."""
        return self.generates()

    def evaluate(
        self, problem: Problem, candidate: Candidate, policy: str, deadline: float | None = None
    ) -> Evaluation:
        """As the candidate says of itself; `confirm` is the speedup when it is judged once more."""
        self.before(candidate)
        first = candidate.main.splitlines()[0]
        told = first.removeprefix("# ") if first.startswith("# ") else self.unsaid
        word, _, rest = told.partition(" ")
        details = json.loads(rest or "{}")
        if word == "infra":
            raise InfraError("the disk is full")
        if word == "invalid":
            raise InvalidProblem("the reference is not reproducible")
        confirmed = details.pop("confirm", None)
        if policy == "confirm" and confirmed is not None:
            details["speedup"] = confirmed
        return judged(problem, candidate, Verdict(word), **details)


class DoubleProposer:
    """Offers one candidate for each first line it was made with."""

    def __init__(self, name: str, lines: Sequence[str]) -> None:
        self.name = name
        self._lines = lines

    def propose(self, view: View) -> Iterator[Proposal]:
        """All of them, in order."""
        for i, text in enumerate(self._lines):
            candidate = Candidate({"candidate.py": f"# {text}\ndef run(x): return x\n"}, Language.PYTHON)
            yield Proposal(candidate, self.name, f"idea {i} of {self.name}", {"block": i})


@dataclass
class DoubleWorkshop:
    """A workshop over a real database with the doubles above."""

    settings: Settings
    judge: DoubleEvaluator
    offered: tuple[Proposer, ...]
    missing: tuple[Guarantee, ...] = ()

    def __post_init__(self) -> None:
        self._database = Database(self.settings.database_url)

    def store(self) -> SqlStore:
        """The settings' database, upgraded."""
        upgrade.upgrade(self._database)
        return SqlStore(self._database)

    def upgrade(self) -> str:
        """To the head."""
        upgrade.upgrade(self._database)
        return upgrade.head()

    @contextmanager
    def evaluator(self, say: Say) -> Iterator[Evaluator]:
        """The double."""
        say("warming up")
        yield self.judge

    def proposers(self) -> tuple[Proposer, ...]:
        """Those offered."""
        return self.offered

    def guarantees(self) -> tuple[Guarantee, ...]:
        """One that holds and one that does not, or a refusal."""
        if self.missing:
            raise SandboxUnavailable("this host refuses namespaces", self.missing)
        return (
            Guarantee("own_uid", True, "uid 200001"),
            Guarantee("memory_limit", False, "no cgroup", "mount cgroup v2"),
        )

    def close(self) -> None:
        """Close the database."""
        self._database.close()


@dataclass
class Shell:
    """Runs commands against doubles and takes what they print."""

    data: Path
    capture: pytest.CaptureFixture[str]
    judge: DoubleEvaluator = field(default_factory=DoubleEvaluator)
    offered: tuple[Proposer, ...] = ()
    missing: tuple[Guarantee, ...] = ()
    err: str = ""
    out: str = ""

    def __call__(self, *arguments: str | Path) -> int:
        """The exit code; what was printed is in `out` and `err`."""
        code = main([str(a) for a in arguments], self._open)
        self.out, self.err = self.capture.readouterr()
        return code

    def json(self, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
        """The exit code and the one object on standard output."""
        code = self(*arguments, "--json")
        data = json.loads(self.out)
        assert isinstance(data, dict)
        return code, data

    def _open(self, settings: Settings) -> DoubleWorkshop:
        return DoubleWorkshop(settings, self.judge, self.offered, self.missing)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell whose data folder is the test's own."""
    monkeypatch.setenv("KERNELWRIGHT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    two = DoubleProposer("template", ['accepted {"speedup": 1.5}', 'incorrect {"reason": "off by 0.1"}'])
    one = DoubleProposer("compiler", ['accepted {"speedup": 1.1}'])
    return Shell(tmp_path / "data", capsys, offered=(two, one))


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    """A native problem that can be loaded."""
    path = tmp_path / "softmax.py"
    path.write_text(PROBLEM)
    return path


@pytest.fixture
def proposer() -> Callable[[str, Sequence[str]], Proposer]:
    """Makes proposers."""
    return DoubleProposer


@pytest.fixture
def evaluation() -> Callable[..., Evaluation]:
    """Makes evaluations; see `judged`."""
    return judged


@pytest.fixture
def guarantee() -> Callable[..., Guarantee]:
    """Makes guarantees."""
    return Guarantee
