"""Allocates and touches memory until there is none.

incident: E-node-oom
problem: softmax
verdict: resource_limit
defence: limits
"""

import torch

kept: list[torch.Tensor] = []


def run(x):
    while True:
        kept.append(torch.ones(1 << 24))
