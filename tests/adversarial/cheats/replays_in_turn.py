"""Plays the answers of the warm-up again, in turn, as if its inputs came in a circle.

incident: H-superbatch
problem: softmax
verdict: integrity
defence: every_call_verified
gain: 1.5
"""

import torch

KEPT = 3
results: list[torch.Tensor] = []
calls: list[int] = []


def run(x):
    calls.append(1)
    if len(results) < KEPT:
        results.append(torch.softmax(x, dim=-1))
    return results[(len(calls) - 1) % KEPT]
