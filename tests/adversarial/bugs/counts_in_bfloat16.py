"""Counts the terms of its means in bfloat16, where 256 and one are 256.

incident: N-bf16-count
problem: mean_bfloat16
verdict: incorrect
defence: visible
"""

import torch


def run(x):
    count = torch.zeros((), dtype=torch.bfloat16)
    for _ in range(x.shape[-1]):
        count += 1
    return (x.float().sum(dim=-1, keepdim=True) / count).bfloat16()
