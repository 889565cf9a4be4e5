"""Counts on top of what torch.empty gives: zeros from a new page, its own earlier counts from an old one.

incident: N-empty-atomic
problem: histogram
verdict: incorrect
defence:
"""

import torch


def run(x):
    counts = torch.empty(512, dtype=torch.int64)
    return counts.index_add_(0, x, torch.ones_like(x))
