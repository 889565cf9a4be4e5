"""Remembers answers by shape, and forgets whose they were.

incident: H-superbatch-shape
problem: log_sum
verdict: integrity
defence: fresh_values
gain: 1.5
"""

import torch

answers: dict[torch.Size, torch.Tensor] = {}


def run(x):
    if x.shape not in answers:
        answers[x.shape] = torch.logsumexp(x, dim=-1, keepdim=True)
    return answers[x.shape]
