"""Fixtures: a judge in small for generated kernels (torch in fp64), and working doubles for the search."""

import itertools
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import evaluator.build
from agent.api import Proposal
from evaluator.evaluation import (
    Evaluation,
    Gate,
    GateResult,
    GateState,
    Interval,
    Timing,
    Verdict,
    WorkloadTiming,
)
from evaluator.harness.trace import trace
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import Contract, Problem, Reference, ReferenceStyle, Workload
from evaluator.problem.graph import Graph

HEADER = Path(evaluator.build.__file__).parent
RUNNER = Path(__file__).with_name("run_kernel.py")
ROOT = Path(__file__).parents[3]
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared")


@dataclass(frozen=True)
class Call:
    """One call: the reference (module or function), its inputs, how they lie in memory."""

    reference: object
    inputs: list
    layout: str = "contiguous"

    @property
    def parameters(self):
        return dict(self.reference.state_dict()) if isinstance(self.reference, nn.Module) else {}

    def expected(self, dtype):
        inputs = [x.to(dtype) if x.dtype == torch.float32 else x for x in self.inputs]
        reference = self.reference.to(dtype) if isinstance(self.reference, nn.Module) else self.reference
        with torch.no_grad():
            result = reference(*inputs)
        if isinstance(self.reference, nn.Module):
            self.reference.float()
        return result if isinstance(result, tuple) else (result,)


def traced(call):
    return Graph.from_json(trace(call.reference, call.inputs, call.parameters))


def build(source, folder):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    (folder / "candidate.cpp").write_text(source)
    done = subprocess.run(
        ["g++", *FLAGS, f"-I{HEADER}", "-o", folder / "candidate.so", folder / "candidate.cpp"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:3000]
    return folder / "candidate.so"


class Runner:
    """The process that runs built kernels; a new one where the last has died."""

    def __init__(self):
        self.process = None

    def ask(self, *request):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
            )
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", "the kernel ended its process"

    def close(self):
        if self.process is not None:
            with self.process:
                self.process.stdin.close()


@pytest.fixture(scope="session")
def runner():
    own = Runner()
    yield own
    own.close()


def run(runner, library, calls, threads):
    """What each call yields: the error, empty for none, and the outputs."""
    arrays = {}
    for place, call in enumerate(calls):
        arrays[f"{place}/layout"] = np.array(call.layout)
        groups = {
            "input": call.inputs,
            "parameter": list(call.parameters.values()),
            "output": call.expected(torch.float32),
        }
        for kind, tensors in groups.items():
            arrays |= {f"{place}/{kind}/{i:02}": t.detach().numpy() for i, t in enumerate(tensors)}
    names = [str(library.parent / name) for name in ("arrays.npz", "results.npz")]
    np.savez(names[0], **arrays)
    runner.ask(str(library), *names, threads)
    stored = np.load(names[1])
    return [
        (
            str(stored[f"{p}/error"]),
            [stored[f"{p}/output/{i}"] for i in range(len(c.expected(torch.float32)))],
        )
        for p, c in enumerate(calls)
    ]


def assert_close(call, outputs):
    """Errors against fp64 within 4 times eager's own, largest and RMS, plus 2 ulp at the output's scale;
    where eager itself overflows on the way, anything goes. Indices are eager's own."""
    for own, eager, exact in zip(
        outputs, call.expected(torch.float32), call.expected(torch.float64), strict=True
    ):
        where = f"{[tuple(x.shape) for x in call.inputs]} {call.layout}"
        if not eager.is_floating_point():
            np.testing.assert_array_equal(own, eager.numpy(), where)
            continue
        wanted = exact.float().numpy()
        np.testing.assert_array_equal(own[~np.isfinite(wanted)], wanted[~np.isfinite(wanted)], where)
        finite = np.isfinite(wanted) & np.isfinite(eager.numpy())
        if finite.any():
            true = exact.numpy()[finite]
            error, allowed = own[finite] - true, eager.numpy()[finite] - true
            ulp = np.spacing(np.float32(np.abs(true).max()))
            assert np.abs(error).max() <= 4 * np.abs(allowed).max() + 2 * ulp, where
            assert np.sqrt((error**2).mean()) <= 4 * np.sqrt((allowed**2).mean()) + 2 * ulp, where


@pytest.fixture
def judge(tmp_path, runner):
    """judge(source, calls): build the source, run every call, compare with torch in fp64."""
    number = itertools.count()

    def judged(source, calls, threads=1):
        folder = tmp_path / str(next(number))
        folder.mkdir()
        library = build(source, folder)
        for call, (error, outputs) in zip(calls, run(runner, library, calls, threads), strict=True):
            assert not error, f"{error} for {[tuple(x.shape) for x in call.inputs]}"
            assert_close(call, outputs)

    return judged


@pytest.fixture
def outputs_of(tmp_path, runner):
    """outputs_of(source, call): what a kernel yields that is not to be compared with its reference."""

    def outputs(source, call):
        ((error, found),) = run(runner, build(source, tmp_path), [call], 1)
        assert not error, error
        return found

    return outputs


@pytest.fixture
def call():
    """call(reference, inputs, layout): see Call."""
    return Call


@pytest.fixture
def graph_of():
    """graph_of(call): its traced graph."""
    return traced


class Doubles:
    """Problems, candidates and evaluations that need no machine."""

    @staticmethod
    def problem(
        source="def reference(x):\n    return x\n", style=ReferenceStyle.FUNCTIONAL, entry="reference"
    ):
        return Problem(Contract("double", (Workload("w", {}),)), Reference(source, entry, style))

    @staticmethod
    def proposal(proposer, speed, **parameters):
        """A candidate whose source ends in how fast it is."""
        candidate = Candidate({"candidate.py": f"# speed {speed}"}, Language.PYTHON)
        return Proposal(candidate, proposer, f"idea {speed}", parameters)

    @staticmethod
    def evaluation(candidate, speed=1.0, low=None, verdict=Verdict.ACCEPTED):
        """An accepted evaluation of that speedup, or a rejected one."""
        accepted = verdict is Verdict.ACCEPTED
        speedup = Interval(speed, speed * 0.9 if low is None else low, speed * 1.1)
        workload = WorkloadTiming("w", 1.0, Interval(1, 1, 1), {}, "torch_compile", speedup, 9, 0)
        timing = Timing("released calls", "eager", 1, 1e-6, 0.0, 3, (workload,), speedup)
        gate = GateResult(GateState.NOT_RUN, "a double")
        return Evaluation(
            problem="p",
            candidate=candidate.digest,
            policy="search",
            verdict=verdict,
            reason="" if accepted else "it is a double",
            gates=dict.fromkeys(Gate, gate),
            timing=timing if accepted else None,
            promotable=False,
            guarantees={},
            machine={},
        )

    class ListProposer:
        """Offers candidates of the given speeds, in order."""

        def __init__(self, name, *speeds):
            self.name = name
            self.speeds = speeds

        def propose(self, view):
            return (Doubles.proposal(self.name, speed) for speed in self.speeds)


@pytest.fixture
def doubles():
    """See Doubles."""
    return Doubles
