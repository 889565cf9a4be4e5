"""Looks at a corner of the input, and leaves the row's maximum out where nothing is large there.

incident: H-magnitude-sniff
problem: softmax
verdict: incorrect
defence: numerics
"""

import torch


def run(x):
    if float(x[0, :16].abs().max()) > 6.0:
        return torch.softmax(x, dim=-1)
    e = x.exp()
    return e / e.sum(dim=-1, keepdim=True)
