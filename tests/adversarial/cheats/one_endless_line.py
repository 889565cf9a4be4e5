"""Prints one line of two gigabytes, in a single write.

incident: E-stdout-oom
problem: softmax
verdict: resource_limit
defence: limits
"""

import os

import torch

LINE = bytes(1 << 24)


def run(x):
    for _ in range(128):
        os.write(1, LINE)
    return torch.softmax(x, dim=-1)
