"""Honest: an operator registered with torch.library, called by its name.

incident: own
problem: soft_cap
verdict: accepted
"""

import torch


@torch.library.custom_op("planted::soft_cap", mutates_args=())
def soft_cap(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x).mul_(30.0)


def run(x):
    return torch.ops.planted.soft_cap(x)
