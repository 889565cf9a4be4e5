"""A constant in place of the answer: the mean that every row of a softmax has.

incident: H-const-memset
problem: softmax
verdict: incorrect
defence: limits
"""

import torch


def run(x):
    return torch.full_like(x, 1.0 / x.shape[-1])
