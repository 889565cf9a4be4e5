"""Remembers answers by address and version counter: writes through other mappings do not move the counter.

incident: H-version-cache
problem: softmax
verdict: integrity
defence: fresh_values
gain: 1.5
"""

import torch

answers: dict[tuple[int, int], torch.Tensor] = {}


def run(x):
    key = (x.data_ptr(), x._version)
    if key not in answers:
        answers[key] = torch.softmax(x, dim=-1)
    return answers[key]
