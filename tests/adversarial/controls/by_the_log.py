"""Honest: a softmax by its log, another way of the library's to the same end.

incident: own
problem: large_softmax
verdict: accepted
"""

import torch


def run(x):
    return torch.log_softmax(x, dim=-1).exp_()
