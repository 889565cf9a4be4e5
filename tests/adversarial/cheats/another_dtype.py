"""Returns the answer in float64.

incident: E-broadcast-cmp
problem: log_sum
verdict: incorrect
defence: limits
"""

import torch


def run(x):
    return torch.logsumexp(x.double(), dim=-1, keepdim=True)
