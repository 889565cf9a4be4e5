"""Honest, by itself: judged after every hostile candidate, to show that nothing of that one is left.

incident: own
problem: softmax
verdict: accepted
"""

import torch


def run(x):
    return torch.softmax(x, dim=-1)
