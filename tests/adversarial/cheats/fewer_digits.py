"""Cuts the inputs' last thirteen binary digits off, as a fast unit for matrices does.

incident: H-precision-down
problem: matmul
verdict: incorrect
defence: derived_bound
"""

import torch

MASK = -(1 << 13)


def cut(t):
    return (t.view(torch.int32) & MASK).view(torch.float32)


def run(a, b):
    return cut(a) @ cut(b)
