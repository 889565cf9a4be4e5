"""What the storage suite stores: whole problems, candidates and evaluations, in a database of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.api import Proposal
from evaluator.evaluation import Evaluation, Gate, GateResult, GateState, Verdict
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import (
    Axis,
    Contract,
    Distribution,
    DistributionKind,
    InputSpec,
    Layout,
    OutputSpec,
    Problem,
    Reference,
    ReferenceStyle,
    Workload,
)
from services.db import upgrade
from services.db.engine import Database
from services.db.store import SqlStore


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An upgraded SQLite database in a file."""
    database = Database(f"sqlite:///{tmp_path / 'data' / 'kernelwright.db'}")
    upgrade.upgrade(database)
    yield database
    database.close()


@pytest.fixture
def store(database: Database) -> SqlStore:
    """The store on it."""
    return SqlStore(database)


@pytest.fixture
def problem() -> Problem:
    """A problem that uses every part of a contract."""
    contract = Contract(
        name="gather \u2192 scale",
        workloads=(
            Workload("w1", {"rows": 8, "classes": 3}),
            Workload("w2", {"rows": 16, "classes": 5}, 2.5),
        ),
        axes=(Axis("rows", 1, 64, 8), Axis("classes", 2, 9), Axis("cols", 32, 32)),
        inputs=(
            InputSpec("x", ("rows", "2*cols"), "float32", Distribution(DistributionKind.NORMAL, std=0.1)),
            InputSpec(
                "i",
                ("rows",),
                "int64",
                Distribution(DistributionKind.INTEGER, low=0, high="classes"),
                Layout.SLICED,
            ),
            InputSpec("s", (), "float64", Distribution(DistributionKind.CONSTANT, value=1e-8), scalar=True),
        ),
        outputs=(OutputSpec("y", ("rows", "2*cols"), "float32"),),
        init=(4, (3, 3), "cols", None, True, 0.1),
        mutates=("x",),
    )
    reference = Reference(
        "def reference(x, i, s):\n    return x * s\n", "reference", ReferenceStyle.FUNCTIONAL
    )
    return Problem(contract, reference, "native", ("a default was taken",))


@pytest.fixture
def proposal() -> Callable[..., Proposal]:
    """Makes proposals that differ by number."""

    def make(number: int = 0, proposer: str = "template") -> Proposal:
        files = {"candidate.cpp": f"// {number} \ud800 é\n", "helper.h": "#pragma once\n"}
        return Proposal(
            Candidate(files, Language.CPP), proposer, f"idea {number}\0", {"block": number, "edge": 1e300}
        )

    return make


@pytest.fixture
def evaluation() -> Callable[..., Evaluation]:
    """Makes rejections of a proposal."""

    def make(problem: Problem, proposal: Proposal, reason: str = "off") -> Evaluation:
        evidence = {"largest": float("inf"), "mean": 0.5, "text": "\0"}
        gates = dict.fromkeys(Gate, GateResult(GateState.NOT_RUN, "an earlier gate failed"))
        gates[Gate.VISIBLE] = GateResult(GateState.FAILED, reason, evidence)
        return Evaluation(
            problem=problem.digest,
            candidate=proposal.candidate.digest,
            policy="search",
            verdict=Verdict.INCORRECT,
            reason=reason,
            gates=gates,
            timing=None,
            promotable=False,
            guarantees={"own_uid": True},
            machine={"cores": 2},
        )

    return make
