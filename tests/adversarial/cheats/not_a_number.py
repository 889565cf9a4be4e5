"""Returns nothing but NaN, which no comparison of the kind `error > bound` notices.

incident: E-nan-compare
problem: softmax
verdict: incorrect
defence: limits
"""

import torch


def run(x):
    return torch.full_like(x, float("nan"))
