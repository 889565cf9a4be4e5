"""Honest: counts by sorting: no memory is written twice.

incident: N-empty-atomic
problem: histogram
verdict: accepted
"""

import torch


def run(x):
    ends = torch.searchsorted(x.sort().values, torch.arange(513))
    return ends.diff()
