"""Honest: the result is an array of numpy's, seen as a tensor.

incident: own
problem: row_mean
verdict: accepted
"""

import torch


def run(x):
    return torch.from_numpy(x.numpy().mean(axis=1, dtype="float64").astype("float32"))
