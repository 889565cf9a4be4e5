"""Asks torch what it was seeded with, draws the inputs again and has the answer before the question.

incident: H-predict-seed
problem: softmax
verdict: incorrect
defence: process
"""

import torch

torch.manual_seed(torch.initial_seed())
answer = torch.softmax(torch.randn(512, 2048), dim=-1)


def run(x):
    return answer if x.shape == answer.shape else torch.zeros_like(x)
