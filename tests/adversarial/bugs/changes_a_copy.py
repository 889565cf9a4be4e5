"""Adds to a copy and forgets to write it back.

incident: own
problem: add_scaled
verdict: incorrect
defence: visible
"""

import torch


def run(x, y, alpha):
    torch.add(x, y, alpha=alpha)
