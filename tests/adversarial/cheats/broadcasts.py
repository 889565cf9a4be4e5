"""Returns a row where a column is expected: a comparison that broadcasts would not see it.

incident: E-broadcast-cmp
problem: log_sum
verdict: incorrect
defence: limits
"""

import torch


def run(x):
    return torch.logsumexp(x, dim=-1)
