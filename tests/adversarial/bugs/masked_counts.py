"""A finite number stands for what is not allowed: where nothing is, everything counts as one.

incident: N-mask-row-one
problem: masked_softmax
verdict: incorrect
defence: visible
"""

import torch

LOWEST = torch.finfo(torch.float32).min


def run(x, allowed):
    return torch.softmax(x.masked_fill(~allowed, LOWEST), dim=-1)
