"""The judge: problems and candidates in, evaluations out. One per process, on a core of its own."""

from __future__ import annotations

import contextlib
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol

import torch

from evaluator.build.builder import Builder
from evaluator.build.cache import BuildCache
from evaluator.build.generated import Example
from evaluator.build.tools import python_environment
from evaluator.canonical import digest
from evaluator.device.load import await_quiet, spare_cpus
from evaluator.device.priority import real_time_allowed
from evaluator.device.turn import turn
from evaluator.evaluation import Evaluation, InfraError, InvalidProblem, OutOfTime
from evaluator.harness.heap import keep_freed_memory
from evaluator.judge.baselines import AUTOTUNED, Seconds
from evaluator.judge.calibration import Calibration
from evaluator.judge.calibrator import Calibrator
from evaluator.judge.client import RunnerClient
from evaluator.judge.clock import Cores, pinned, split_cores
from evaluator.judge.deadline import Deadline
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from evaluator.judge.findings import ProblemReport
from evaluator.judge.pipeline import Pipeline
from evaluator.judge.policy import Policy, policy
from evaluator.judge.problem_check import check_problem, require_sound
from evaluator.judge.seat import Seat
from evaluator.judge.workbench import Workbench
from evaluator.problem.candidate import Candidate
from evaluator.problem.contract import Problem, Timeouts
from evaluator.problem.graph import Graph
from sandbox.api import Limits, Profile, Sandbox, SandboxError, Zygote

PRELOAD = ("torch", "evaluator.harness.runner")
ENTRY = "evaluator.harness.runner:main"
BASELINE_SECONDS = "fastest"
CALIBRATION_BYTES = 4 << 30
PATIENCE = 0.005
"""Seconds that a timed call waits at most for a moment in which nobody else runs."""


class BaselineCache(Protocol):
    """What is known of baselines, by problem, machine and versions."""

    def get(self, key: str) -> dict[str, object] | None:
        """The entry, or None."""
        ...

    def put(self, key: str, value: dict[str, object]) -> None:
        """Keep an entry."""
        ...


class CalibrationStore(Protocol):
    """Calibrations of machines, by a digest of what they depend on."""

    def get(self, key: str) -> Mapping[str, object] | None:
        """The calibration as JSON data, or None."""
        ...

    def put(self, key: str, value: Mapping[str, object]) -> None:
        """Keep a calibration in place of what was there."""
        ...


@dataclass(frozen=True)
class JudgeSettings:
    """processes: how many a runner may have at once, compilers of torch.compile included. output_bytes: what it may
    print in all."""

    processes: int = 64
    tmpfs_bytes: int = 1 << 30
    output_bytes: int = 256 << 10
    environment: Mapping[str, str] = field(default_factory=dict)


def machine() -> dict[str, object]:
    """What times and errors depend on besides the problem."""
    cpu = "unknown"
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
    return {
        "cpu": cpu,
        "isa": torch.backends.cpu.get_cpu_capability(),
        "architecture": platform.machine(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


class Judge:
    """Evaluates candidates and checks problems. Use as a context manager; the thread is pinned inside it.

    Raises InfraError where the machine fails, InvalidProblem where the problem cannot be judged.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        build_cache: Path,
        baseline_cache: BaselineCache,
        settings: JudgeSettings | None = None,
        say: Callable[[str], None] = lambda text: None,
        defences: Defences | None = None,
        calibrations: CalibrationStore | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._baseline_cache = baseline_cache
        self._calibrations = calibrations
        self._deadline = Deadline()
        self._settings = settings or JudgeSettings()
        self._say = say
        self._defences = defences or Defences()
        self.cores: Cores = split_cores()
        self._real_time = real_time_allowed()
        self._spare = spare_cpus(len({self.cores.judge, *self.cores.runners}))
        self._builder = Builder(sandbox, BuildCache(build_cache), self.cores.runners)
        self._bench: Workbench | None = None
        self._sound: set[str] = set()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Judge:
        try:
            self.guarantees = {g.name: g.holds for g in self._sandbox.guarantees()}
            self._zygote: Zygote = self._sandbox.zygote(PRELOAD)
            self._stack.callback(self._zygote.close)
            self._stack.enter_context(pinned(self.cores.judge))
            self.machine = machine() | {"threads": self.threads, "judge_core": self.cores.judge}
            keep_freed_memory()  # every round takes and frees the same large tensors
            self.calibration: Calibration = self._calibration()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    @property
    def threads(self) -> int:
        """Threads of baseline and candidate alike: all cores but the judge's."""
        return self.cores.threads

    @property
    def bandwidth(self) -> Callable[[int], float] | None:
        """Bytes that a call moves → bytes per second at most, caches included; None where that was not calibrated."""
        ceilings = self.calibration.ceilings
        return None if ceilings is None else ceilings.bandwidth

    def calibrate(self) -> Calibration:
        """Measure this machine at length, ceilings too; use that from now on, and keep it. Raises InfraError."""
        self._close_bench()  # what it knows was measured with another calibration
        with self._machinery():
            self.calibration = self._calibrator().thoroughly()
        if self._calibrations is not None:
            self._calibrations.put(self._calibration_key(), self.calibration.to_json())
        return self.calibration

    def evaluate(
        self, problem: Problem, candidate: Candidate, policy_name: str | Policy, deadline: float | None = None
    ) -> Evaluation:
        """The judgement of a candidate.

        policy_name: a policy's name, or a policy of the caller's own.
        deadline: on time.monotonic()'s clock; past it the evaluation is given up.
        Raises InfraError, InvalidProblem, OutOfTime, ValueError for an unknown policy.
        """
        chosen = policy_name if isinstance(policy_name, Policy) else policy(policy_name)
        with self._machinery(deadline):
            if chosen.fresh:
                self._close_bench()
            bench = self._workbench(problem)
            pipeline = Pipeline(
                bench=bench,
                candidate=candidate,
                policy=chosen,
                builder=self._builder,
                start=lambda timeouts: self._start(timeouts, "plain", problem.contract.memory_bytes),
                seconds=lambda: self._baseline_seconds(bench),
                defences=self._defences,
                deadline=deadline,
            )
            machine = {**self.machine, "calibration": self.calibration.to_json()}
            return pipeline.run(self.guarantees, machine)

    def check(self, problem: Problem) -> ProblemReport:
        """Judge the problem itself. Raises InfraError."""
        with self._machinery():
            report = check_problem(lambda: self._workbench(problem, sound=False))
            if report.ok:
                self._sound.add(problem.digest)
            else:
                self._close_bench()  # else the next candidate would be judged on it
            return report

    def trace(self, problem: Problem) -> dict[str, Graph]:
        """The traced graph of every workload; fewer where the reference cannot be traced. Raises InvalidProblem."""
        with self._machinery():
            bench = self._workbench(problem)
            graphs: dict[str, Graph] = {}
            for case in bench.cases:
                with contextlib.suppress(Fault, ValueError, RecursionError):
                    graphs[case.name] = Graph.from_json(bench.oracle.trace_data(case))
            if bench.oracle.seat.client.process.poll() is not None:
                self._close_bench()  # tracing ended the reference: the next evaluation starts it anew
            return graphs

    def generated(self, problem: Problem, deadline: float | None = None) -> Candidate | None:
        """The code that torch.compile makes of the reference, as a candidate; None where it makes none that can stand
        on its own. Raises InfraError, InvalidProblem, OutOfTime."""
        with self._machinery(deadline):
            bench = self._workbench(problem)
            case = bench.cases[0]
            specs = bench.oracle.known[case.name].inputs
            examples = [Example(s.shape, s.strides, s.dtype) for s in specs if s is not None]
            if len(examples) < len(specs) or problem.contract.mutates:
                return None
            dynamic = len(bench.cases) > 1 or any(a.low < a.high for a in problem.contract.axes)
            limit = self._deadline.within(problem.contract.timeouts.build)
            found = self._builder.generated(problem, bench.oracle.init[case.key], examples, dynamic, limit)
            self._deadline.check()
            return found

    def close(self) -> None:
        """End every process that was started. Idempotent."""
        self._close_bench()
        self._stack.close()

    # --- parts --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _machinery(self, deadline: float | None = None) -> Iterator[None]:
        """What breaks inside is InfraError, and the runners in hand are not used again.

        Torch says that memory is short by a RuntimeError; in this process only our own code can cause one.
        """
        self._deadline.at = deadline
        try:
            with turn(self._say, check=self._deadline.check):
                yield
        except (InvalidProblem, InfraError, OutOfTime):
            self._close_bench()
            raise
        except (SandboxError, OSError, MemoryError, RuntimeError) as e:
            self._close_bench()
            raise InfraError(f"{type(e).__name__}: {e}") from e
        finally:
            self._deadline.at = None

    def _calibration(self) -> Calibration:
        """The one that was kept for this machine, else a short one."""
        guarded = self._defences.least_constant
        kept = self._calibrations.get(self._calibration_key()) if self._calibrations and guarded else None
        if kept is not None:
            with contextlib.suppress(TypeError, ValueError):  # of another version
                return Calibration.from_json(kept)
        with self._machinery():
            return self._calibrator().briefly(guarded)

    def _calibrator(self) -> Calibrator:
        return Calibrator(
            lambda: self._start(Timeouts(), "plain", CALIBRATION_BYTES, Defences()),
            self.threads,
            self._builder,
        )

    def _settle_down(self) -> None:
        """Before a timed call: wait a little for others, where they could not be put behind."""
        if not self._real_time:
            await_quiet(self._spare, PATIENCE)

    def _calibration_key(self) -> str:
        return digest({"machine": self.machine, "real_time": self._real_time})

    def _workbench(self, problem: Problem, sound: bool = True) -> Workbench:
        """The bench of a problem, kept from one candidate to the next. Raises InvalidProblem."""
        if self._bench is not None and self._bench.problem.digest == problem.digest:
            return self._bench
        self._close_bench()
        self._bench = Workbench(
            problem=problem,
            start=lambda timeouts, variant: self._start(timeouts, variant, problem.contract.memory_bytes),
            cores=self.cores,
            calibration=self.calibration,
            say=self._say,
            defences=self._defences,
        )
        if sound and problem.digest not in self._sound:
            require_sound(self._bench)
            self._sound.add(problem.digest)
        return self._bench

    def _close_bench(self) -> None:
        if self._bench is not None:
            self._bench.close()
            self._bench = None

    def _start(
        self, timeouts: Timeouts, variant: str, memory_bytes: int, defences: Defences | None = None
    ) -> Seat:
        limits = Limits(
            memory_bytes=memory_bytes,
            processes=self._settings.processes,
            tmpfs_bytes=self._settings.tmpfs_bytes,
            output_bytes=self._settings.output_bytes,
        )
        profile = Profile(
            cores=self.cores.runners,
            environment={**python_environment(self.threads), **self._settings.environment},
            limits=limits,
        )
        with contextlib.ExitStack() as undo:
            process = self._zygote.spawn(ENTRY, profile)
            undo.callback(process.kill)
            client = RunnerClient(
                process, defences or self._defences, self._deadline, self.threads, self._settle_down
            )
            undo.pop_all()
        return Seat(client, timeouts, variant, memory_bytes)

    def _baseline_seconds(self, bench: Workbench) -> Seconds:
        """Known times of the baselines, measured where they are not in the cache."""
        key = digest({"problem": bench.problem.digest, "machine": self.machine, "prefix": sys.prefix})
        entry = self._baseline_cache.get(key)
        seconds = _seconds(entry, bench) if entry is not None else None
        if seconds is None:
            self._say("measuring baselines")
            seconds = bench.baselines.measure()
            if not bench.baselines.unavailable:
                self._baseline_cache.put(key, {BASELINE_SECONDS: {n: dict(t) for n, t in seconds.items()}})
        return seconds


def _seconds(entry: Mapping[str, object], bench: Workbench) -> Seconds | None:
    """The cached times where they cover every workload. They were kept where no baseline failed; one that generates
    the same code as another is not among them."""
    found = entry.get(BASELINE_SECONDS)
    names, cases = set(bench.contract.baselines), {c.name for c in bench.cases}
    if not isinstance(found, dict) or not names - {AUTOTUNED} <= set(found) <= names:
        return None
    if not found or any(set(t) != cases for t in found.values()):
        return None
    return found
