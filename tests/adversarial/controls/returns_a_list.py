"""Honest: returns a list where the reference returns a tuple, by an object that can be called.

incident: own
problem: max_and_place
verdict: accepted
"""

import functools

import torch


class Rows:
    def __call__(self, dim, x):
        return list(torch.max(x, dim=dim))


run = functools.partial(Rows(), -1)
