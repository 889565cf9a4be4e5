"""Honest: builds a table at import, of ones to multiply with.

incident: own
problem: log_sum
verdict: accepted
"""

import torch

table = torch.tensor([float(n >= 0) for n in range(1024)]).unsqueeze(1)


def run(x):
    most = x.amax(dim=-1, keepdim=True)
    return ((x - most).exp() * table[: x.shape[1]].T).sum(dim=-1, keepdim=True).log() + most
