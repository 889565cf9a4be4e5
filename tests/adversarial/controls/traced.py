"""Honest: compiled by torch.jit, which replaces nothing of torch's.

incident: own
problem: softmax
verdict: accepted
"""

import torch


def plain(x):
    return torch.softmax(x, dim=-1)


run = torch.jit.trace(plain, torch.randn(2, 3), check_trace=False)
