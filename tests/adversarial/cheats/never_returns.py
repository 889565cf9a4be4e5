"""Loops for ever in the second call.

incident: E-hung-kernel
problem: softmax
verdict: timeout
defence: limits
"""

import torch

calls: list[int] = []


def run(x):
    calls.append(1)
    while len(calls) > 1:
        pass
    return torch.softmax(x, dim=-1)
