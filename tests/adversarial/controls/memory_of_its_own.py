"""Honest: every result lies in memory that it asked the kernel for.

incident: own
problem: clamp
verdict: accepted
"""

import mmap

import torch


def run(x):
    memory = mmap.mmap(-1, x.numel() * 4)
    return torch.clamp(x, -1000.0, 1000.0, out=torch.frombuffer(memory, dtype=torch.float32).view(x.shape))
