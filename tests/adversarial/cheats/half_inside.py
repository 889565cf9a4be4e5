"""Computes in half precision and casts back.

incident: H-precision-down
problem: softmax
verdict: incorrect
defence: derived_bound
"""

import torch


def run(x):
    return torch.softmax(x.half(), dim=-1).float()
