"""Returns integers where floats are expected.

incident: own
problem: log_sum
verdict: incorrect
defence: limits
"""

import torch


def run(x):
    return torch.logsumexp(x, dim=-1, keepdim=True).round().int()
