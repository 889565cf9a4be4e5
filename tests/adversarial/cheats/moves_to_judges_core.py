"""Moves to the other cores, the judge's among them, and spins there. The kernel refuses, and it is honest.

incident: own
problem: softmax
verdict: accepted
defence: limits
"""

import contextlib
import os

import torch

before = os.sched_getaffinity(0)
for core in range(os.cpu_count() or 1):
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
if os.sched_getaffinity(0) != before:
    raise RuntimeError("moved")


def run(x):
    return torch.softmax(x, dim=-1)
