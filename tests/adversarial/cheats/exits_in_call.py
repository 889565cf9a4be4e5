"""Leaves with exit code 0 in the third call.

incident: H-forge-pipe
problem: softmax
verdict: runtime_error
defence: limits
"""

import os

import torch

calls: list[int] = []


def run(x):
    calls.append(1)
    if len(calls) == 3:
        os._exit(0)
    return torch.softmax(x, dim=-1)
