"""Honest: lays its result row by row, where torch would return it transposed. Both are allowed.

incident: own
problem: exp_transposed
verdict: accepted
"""

import torch


def run(x):
    return x.t().clone(memory_format=torch.contiguous_format).exp_()
