"""Honest: one row's work, mapped over all rows by torch.func.

incident: own
problem: masked_softmax
verdict: accepted
"""

import torch


def row(x, allowed):
    most = torch.where(allowed, x, float("-inf")).amax().clamp(min=-1e30)
    e = torch.where(allowed, (x - most).exp(), 0.0)
    return e / e.sum().clamp(min=1e-30)


run = torch.func.vmap(row)
