"""Honest: writes into outputs that are given to it, which are full of garbage.

incident: own
problem: clamp
verdict: accepted
"""

# kernelwright: entry=into style=destination
import torch


def into(x, y):
    torch.clamp(x, -1000.0, 1000.0, out=y)
