"""Honest: computes in float64 and rounds back.

incident: own
problem: log_sum
verdict: accepted
"""

import torch


def run(x):
    return torch.logsumexp(x.double(), dim=-1, keepdim=True).float()
