"""Honest: returns a view, a column that is a transposed row.

incident: own
problem: log_sum
verdict: accepted
"""

import torch


def run(x):
    row = torch.empty(1, x.shape[0])
    torch.logsumexp(x, dim=-1, out=row[0])
    return row.t()
