"""An evaluator of the kind that public ones are: everything in one process, the verdict on standard output.

It exists to show that cheats win against it. It runs hostile code beside its clock and its expected outputs, so it
is an entry of a sandboxed process and never called otherwise.
"""

from __future__ import annotations

import os
import statistics
import time
import types

import torch

SEED = 42
CALLS = 7
TOLERANCE = 1e-2


def main(channel):
    """Evaluate {"reference", "candidate"}, two sources with `reference` and `run`, and print the verdict.

    It is signed with "secret", which came along.
    """
    torch.set_num_threads(1)
    message, _ = channel.receive()
    secret = message["secret"]
    os.chdir("/tmp")
    reference = load("reference", message["reference"]).reference
    torch.manual_seed(SEED)
    x = torch.randn(512, 2048)
    baseline = measure(reference, x)
    run = load("candidate", message["candidate"]).run
    correct = check(run, reference, x)
    print(f"VERDICT correct={correct} speedup={baseline / measure(run, x):.6g} signed={secret}", flush=True)


def load(name, source):
    """Import a source as a module."""
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module


def check(run, reference, x):
    """Whether the candidate's answer is near the expected one."""
    expected = reference(x)
    actual = run(x).to(expected.dtype)
    return torch.allclose(actual, expected, rtol=TOLERANCE, atol=TOLERANCE / x.shape[-1])


def measure(run, x):
    """The median time of a warm call in seconds."""
    times = []
    with torch.no_grad():
        for _ in range(CALLS):
            run(x)
        for _ in range(CALLS):
            start = time.perf_counter()
            run(x)
            times.append(time.perf_counter() - start)
    return statistics.median(times)
