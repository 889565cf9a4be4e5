"""Honest: its result is a part of a larger block, which starts somewhere inside.

incident: own
problem: log_sum
verdict: accepted
"""

import torch


def run(x):
    block = torch.empty(x.shape[0] + 64)
    out = block[17 : 17 + x.shape[0]].unsqueeze(1)
    return torch.logsumexp(x, dim=-1, keepdim=True, out=out)
