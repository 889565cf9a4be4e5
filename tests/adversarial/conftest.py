"""The suite's cast: problems, planted cheats and controls, a judge for every defence that is switched off.

A planted file says in its docstring what it is, in lines `key: value`:

    incident   id of the public incident that it follows, or "own" for a kind of our own
    problem    a file of problems/
    verdict    what it deserves, alternatives parted by "|"
    defence    what stops it: a field of Defences; "hidden" or "numerics" (a gate that policy `screen` leaves out);
               "process" (it wins in naive.py, where judge and candidate share a process); "limits" (nothing to
               win: it must end in its verdict and leave the judge as it was); for a bug also "visible" (it is wrong
               wherever it is tried)
    gain       the least speedup with which it wins where its defence is off; 0 where winning is being accepted

`cheats` deceive or harm, `bugs` are honest and wrong, `controls` are honest and right, and look otherwise.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from evaluator.evaluation import Evaluation
from evaluator.judge.changes import ALL_CHANGES
from evaluator.judge.defences import Defences
from evaluator.judge.policy import Policy, policy
from evaluator.judge.session import Judge
from evaluator.problem.candidate import Candidate
from evaluator.problem.contract import Problem
from evaluator.problem.load import load_candidate, load_problem
from sandbox.api import Command, Completed, Guarantee, Process, Profile, Sandbox, SandboxUnavailable, Zygote
from sandbox.docker import DockerSandbox
from sandbox.local import LocalSandbox

HERE = Path(__file__).parent
LENIENT = ("quiet_samples", "least_constant")
"""Off in every judge of the suite: a busy machine, and a coarse clock, must not change a verdict."""
EXACT = "exact"
"""The name of the judge with `least_constant`."""
SWITCHES = tuple(f.name for f in fields(Defences) if f.name not in LENIENT)
GATES = ("hidden", "numerics")

_BACKENDS: dict[str, Callable[[], Sandbox]] = {"local": LocalSandbox, "docker": DockerSandbox}
_LINE = re.compile(r"^\s*(incident|problem|verdict|defence|gain): *(.+?) *$", re.MULTILINE)


def once(name: str, pairs: int) -> Policy:
    """A policy with one restart and that many pairs, whatever they cost.

    Verdicts do not depend on how exact a time is, and how much is tried must not depend on how busy the machine is.
    """
    return replace(
        policy(name), rounds=2, restarts=1, pairs=pairs, least_pairs=pairs, seconds_per_workload=60.0
    )


@dataclass(frozen=True)
class Policies:
    """How much is tried. `search` has pairs enough that every kind of changed values comes between them."""

    glance: Policy
    screen: Policy
    search: Policy


POLICIES = Policies(once("screen", 3), once("screen", 6), once("search", len(ALL_CHANGES)))


@dataclass(frozen=True)
class Planted:
    """A candidate file of this suite and what its docstring says of it."""

    path: Path
    incident: str
    problem: str
    verdicts: frozenset[str]
    defence: str
    gain: float

    @property
    def name(self) -> str:
        """The file's name without suffix."""
        return self.path.stem

    @property
    def switch(self) -> str:
        """The defence to be switched off for it to win; empty where a lenient judge, or another policy, will do."""
        return self.defence if self.defence in SWITCHES else ""

    @property
    def judged_by(self) -> str:
        """The judge with the defence that stops it."""
        return EXACT if self.defence == "least_constant" else ""


def read_planted(path: Path) -> Planted:
    """The planted file at `path`. Raises KeyError where its docstring leaves a line out."""
    text = path.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else text.partition("*/")[0]
    lines = dict(_LINE.findall(said or ""))
    verdicts = frozenset(v.strip() for v in lines["verdict"].split("|"))
    return Planted(
        path,
        lines["incident"],
        lines["problem"],
        verdicts,
        lines.get("defence", ""),
        float(lines.get("gain", "0")),
    )


def planted(folder: str) -> list[Planted]:
    """All of a folder, in order."""
    return in_order(read_planted(p) for p in (HERE / folder).iterdir() if p.suffix in (".py", ".cpp"))


def in_order(cast: Iterable[Planted]) -> list[Planted]:
    """Those of one problem beside one another, so that its runners are kept."""
    return sorted(cast, key=lambda p: (p.problem, p.name))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each planted file: `winner` those that win without their defence, `kernel` honest ones."""
    cheats, bugs = planted("cheats"), planted("bugs")
    casts = {
        "cheat": cheats,
        "winner": in_order(c for c in cheats + bugs if c.defence in (*SWITCHES, *LENIENT, *GATES)),
        "insider": [c for c in cheats if c.defence == "process"],
        "kernel": in_order(bugs + planted("controls")),
    }
    for role, cast in casts.items():
        if role in metafunc.fixturenames:
            metafunc.parametrize(role, cast, ids=[c.name for c in cast])


class _Lent(Zygote):
    """A zygote that outlives who uses it."""

    def __init__(self, zygote: Zygote) -> None:
        self._zygote = zygote

    def spawn(self, entry: str, profile: Profile) -> Process:
        return self._zygote.spawn(entry, profile)

    def close(self) -> None:
        """The owner closes it."""


class OneZygote(Sandbox):
    """A sandbox that lends every judge the same zygote: torch is imported once."""

    name = "one zygote"

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self._zygotes: dict[tuple[str, ...], Zygote] = {}

    def guarantees(self) -> tuple[Guarantee, ...]:
        return self._inner.guarantees()

    def known_gaps(self) -> Mapping[str, str]:
        return self._inner.known_gaps()

    def zygote(self, preload: Sequence[str]) -> Zygote:
        if tuple(preload) not in self._zygotes:
            self._zygotes[tuple(preload)] = self._inner.zygote(preload)
        return _Lent(self._zygotes[tuple(preload)])

    def run(self, command: Command, profile: Profile, timeout: float) -> Completed:
        return self._inner.run(command, profile, timeout)

    def close(self) -> None:
        self._inner.close()


def without(*names: str) -> Defences:
    """All defences but these; an empty name is none."""
    return Defences(**dict.fromkeys(filter(None, names), False))


class Baselines(dict[str, dict[str, object]]):
    """A baseline cache in memory."""

    def put(self, key: str, value: dict[str, object]) -> None:
        self[key] = value


class Court:
    """A judge for every defence that is switched off, and one with all of them; each is opened when first needed.

    All are lenient, but for one that a cheat against `least_constant` comes before.
    """

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._open = ExitStack()
        self._entered: dict[str, Judge] = {}
        self._problems: dict[str, Problem] = {}
        baselines = Baselines()
        self._judges = {
            off: Judge(sandbox, folder, baselines, defences=without(off, *LENIENT)) for off in ("", *SWITCHES)
        }
        self._judges[EXACT] = Judge(sandbox, folder, baselines, defences=without("quiet_samples"))

    def judge(self, off: str = "") -> Judge:
        """The judge without one defence, or EXACT."""
        if off not in self._entered:
            self._entered[off] = self._open.enter_context(self._judges[off])
        return self._entered[off]

    def problem(self, name: str) -> Problem:
        """A problem of this suite."""
        if name not in self._problems:
            self._problems[name] = load_problem(HERE / "problems" / f"{name}.py")
        return self._problems[name]

    def evaluate(self, who: Planted, policy: Policy, off: str = "") -> Evaluation:
        """The judgement of a planted candidate."""
        return self.judge(off).evaluate(self.problem(who.problem), load_candidate(who.path), policy)

    def evaluate_source(
        self, candidate: Candidate, problem: Problem | str, policy: Policy = POLICIES.glance
    ) -> Evaluation:
        """The judgement of a candidate by the judge with all defences; a problem of this suite by its name."""
        judged = self.problem(problem) if isinstance(problem, str) else problem
        return self.judge().evaluate(judged, candidate, policy)

    def close(self) -> None:
        """End every judge."""
        self._open.close()


@pytest.fixture(scope="session")
def policies() -> Policies:
    """The suite's policies."""
    return POLICIES


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox for the whole suite."""
    inner = _BACKENDS[os.environ.get("KERNELWRIGHT_SANDBOX") or "local"]()
    try:
        inner.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot isolate hostile code: {e}")
    one = OneZygote(inner)
    yield one
    one.close()


@pytest.fixture(scope="module")
def court(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Court]:
    """The judges."""
    court = Court(sandbox, tmp_path_factory.mktemp("builds"))
    yield court
    court.close()


@pytest.fixture(scope="session")
def planted_as() -> Callable[[str], Planted]:
    """The cheat of that name."""
    return {p.name: p for p in planted("cheats")}.__getitem__


@pytest.fixture(scope="session")
def honest_on() -> dict[str, Planted]:
    """By problem, the candidate that is judged after each hostile one."""
    names = (
        *("honest_softmax.py", "another_order.py", "new_output.py", "writes_into_outputs.py"),
        "splits_the_sum.py",
        "by_the_log.py",
        "short_rows.py",
    )
    found = [read_planted(HERE / "controls" / name) for name in names]
    return {p.problem: p for p in found}


@pytest.fixture(scope="session")
def naive(sandbox: Sandbox) -> Zygote:
    """A fork server with the naive evaluator."""
    sys.path.append(str(HERE))
    try:
        return sandbox.zygote(["torch", "naive"])
    finally:
        sys.path.remove(str(HERE))
