"""Honest: sums a product of matrices in four parts, in another order than the library.

incident: C-bf16-order
problem: matmul
verdict: accepted
"""

import torch


def run(a, b):
    parts = zip(a.tensor_split(4, dim=1), b.tensor_split(4, dim=0), strict=True)
    return torch.stack([left @ right for left, right in parts]).sum(dim=0)
