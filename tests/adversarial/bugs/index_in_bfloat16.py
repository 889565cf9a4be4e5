"""Keeps places in a tensor of the values' kind: bfloat16 knows no odd number above 256.

incident: N-bf16-index
problem: max_and_place
verdict: incorrect
defence: visible
"""

import torch


def run(x):
    value = x.amax(dim=-1)
    places = torch.arange(x.shape[-1], dtype=torch.bfloat16)
    place = torch.where(x == value.unsqueeze(-1), places, -1.0).amax(dim=-1)
    return value, place.long()
