"""Honest: lays its result as torch does, transposed.

incident: own
problem: exp_transposed
verdict: accepted
"""

import torch


def run(x):
    return torch.empty_like(x).copy_(x).exp_().t()
