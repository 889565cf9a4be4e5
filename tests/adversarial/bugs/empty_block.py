"""Softmax block by block: where a row's first block allows nothing, infinity less infinity stays in the sum.

incident: N-mask-row-nan
problem: masked_softmax
verdict: incorrect
defence: visible
"""

import torch

BLOCK = 16


def run(x, allowed):
    scores = x.masked_fill(~allowed, float("-inf"))
    most = torch.full((x.shape[0], 1), float("-inf"))
    total = torch.zeros(x.shape[0], 1)
    for block in scores.split(BLOCK, dim=-1):
        larger = torch.maximum(most, block.amax(dim=-1, keepdim=True))
        total = total * (most - larger).exp() + (block - larger).exp().sum(dim=-1, keepdim=True)
        most = larger
    return torch.where(allowed, (scores - most).exp() / total, 0.0)
