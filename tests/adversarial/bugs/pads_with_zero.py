"""Pads each row to a power of two with zeros: the largest of nothing but negative numbers is then 0.

incident: N-pad-zero-max
problem: row_max
verdict: incorrect
defence: hidden
"""

import torch


def run(x):
    return torch.nn.functional.pad(x, (0, 128 - x.shape[-1])).amax(dim=-1)
