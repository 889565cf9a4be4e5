"""Returns the same buffer from every call, so that a later call overwrites an earlier result.

incident: H-alias-output
problem: softmax
verdict: incorrect
defence: results_stay
"""

import torch

buffers: dict[torch.Size, torch.Tensor] = {}


def run(x):
    out = buffers.setdefault(x.shape, torch.empty_like(x))
    return torch.softmax(x, dim=-1, out=out)
