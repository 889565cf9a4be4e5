"""What the evaluator's tests share: generated examples that are the same in every run, and a local machine.

On the local machine every runner is an object in the test's own process: the judge's code and the runner's are the
real ones, only the process and the clock between them are doubles. Nothing is timed; a call takes what the test says.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
import torch
from hypothesis import settings

from evaluator.harness import page
from evaluator.harness.runner import Runner, failure
from evaluator.harness.wire import decode, encode
from evaluator.judge.calibration import Calibration
from evaluator.judge.client import Released, RunnerClient, Sampler
from evaluator.judge.clock import Cores
from evaluator.judge.defences import Defences
from evaluator.judge.faults import of_failure
from evaluator.judge.seat import Seat
from evaluator.judge.workbench import Workbench
from evaluator.problem.contract import Problem, Reference, ReferenceStyle, Timeouts
from evaluator.problem.native_schema import read
from sandbox.api import EndKind, ExitStatus, Process, Scheduling
from sandbox.memory import read_into, read_spans

settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("steady")

R = TypeVar("R")


class LocalProcess(Process):
    """The test's own process, seen as a runner's."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.alive = True

    def freeze(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def thaw(self) -> None:
        pass

    def read_memory(self, spans: Sequence[tuple[int, int]]) -> bytes:
        return read_spans(self.pid, spans)

    def read_memory_into(self, address: int, target: memoryview) -> None:
        read_into(self.pid, address, target)

    def scheduling(self) -> Scheduling:
        return Scheduling(0, 0, 0)

    def poll(self) -> ExitStatus | None:
        return None if self.alive else ExitStatus(EndKind.KILLED_BY_US)

    def kill(self) -> ExitStatus:
        self.alive = False
        return ExitStatus(EndKind.KILLED_BY_US)

    def output(self) -> tuple[bytes, bool]:
        return b"", False


class LocalClient(RunnerClient):
    """A runner that carries out every request at once. `clock` gives each call's nanoseconds and disturbance."""

    def __init__(self, folder: str, clock: Callable[[], tuple[int, bool]], defences: Defences) -> None:
        super().__init__(LocalProcess(), defences)
        self.runner = Runner(folder)
        self.clock = clock

    def request(self, message: object, reply: type[R], timeout: float, descriptors: Sequence[int] = ()) -> R:
        try:
            answer = self.runner.handle(message, [os.dup(d) for d in descriptors])
        except Exception as e:
            raise of_failure(failure(e)) from None
        return decode(json.loads(json.dumps(encode(answer))), reply)

    def call(
        self, binding: int, prepare: Callable[[], None], sampler: Sampler, timeout: float, urgent: bool = True
    ) -> Released:
        prepare()
        with torch.no_grad():
            self._words[page.STATUS], body = self.runner._outcome(binding)
        self._text[: len(body)] = body
        self._words[page.LENGTH] = len(body)
        outcome = self._outcome()
        nanoseconds, disturbed = self.clock()
        return Released(nanoseconds, outcome, sampler(outcome), disturbed)


class LocalMachine:
    """Makes seats and benches whose runners live in this process.

    nanoseconds: what a call takes, of a reference or baseline ("reference") and of a candidate ("candidate").
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nanoseconds: dict[str, Callable[[], int]] = {
            "reference": lambda: 2_000_000,
            "candidate": lambda: 1_000_000,
        }
        self.disturbed: Callable[[str], bool] = lambda who: False
        self.cores = Cores(0, (1,))
        self.calibration = Calibration(0.0, 0.0, 50e-6)
        self.started: list[str] = []
        self._open: list[Callable[[], None]] = []

    def seat(self, who: str = "candidate", defences: Defences | None = None, variant: str = "plain") -> Seat:
        """A fresh runner."""
        self.started.append(who)
        folder = str(self.folder / f"{who}{len(self.started)}")
        client = LocalClient(
            folder, lambda: (self.nanoseconds[who](), self.disturbed(who)), defences or Defences()
        )
        seat = Seat(client, Timeouts(), variant)
        self._open.append(seat.close)
        return seat

    def bench(self, problem: Problem, defences: Defences | None = None) -> Workbench:
        """The trusted side of a problem."""
        bench = Workbench(
            problem=problem,
            start=lambda timeouts, variant: self.seat("reference", defences, variant),
            cores=self.cores,
            calibration=self.calibration,
            say=lambda text: None,
            defences=defences or Defences(),
        )
        self._open.append(bench.close)
        return bench

    def close(self) -> None:
        """Close all that was made, and let it go."""
        while self._open:
            self._open.pop()()


def problem_of(source: str, **contract: object) -> Problem:
    """A problem from the source of `reference` (or of a class `Model`) and some contract's keys."""
    style = ReferenceStyle.MODULE if "class Model" in source else ReferenceStyle.FUNCTIONAL
    entry = "Model" if style is ReferenceStyle.MODULE else "reference"
    keys: dict[str, object] = {
        "axes": {"rows": {"range": [1, 64]}, "cols": {"range": [1, 96]}},
        "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
        "workloads": [{"name": "a", "axes": {"rows": 32, "cols": 48}}],
        "baselines": ["torch_eager"],
    }
    return Problem(read(keys | contract, "test"), Reference(source, entry, style))


@pytest.fixture
def make_problem() -> Callable[..., Problem]:
    """See `problem_of`."""
    return problem_of


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalMachine]:
    """A local machine; what its runners changed in this process is put back."""
    path, modules, threads = list(sys.path), dict(sys.modules), torch.get_num_threads()
    openmp = os.environ.get("OMP_NUM_THREADS")
    machine = LocalMachine(tmp_path)
    yield machine
    machine.close()
    sys.path[:] = path
    for name in {"reference", "candidate", "noop"} & set(sys.modules) - set(modules):
        del sys.modules[name]
    torch.set_num_threads(threads)
    if openmp is None:
        os.environ.pop("OMP_NUM_THREADS", None)
    else:
        os.environ["OMP_NUM_THREADS"] = openmp
