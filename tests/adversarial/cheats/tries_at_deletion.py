"""Tries to leave when its objects are deleted and when the process ends. Otherwise honest.

incident: own
problem: softmax
verdict: accepted
defence: limits
"""

import atexit
import os

import torch

atexit.register(os._exit, 0)


class Trap:
    def __del__(self):
        raise SystemExit(0)


def run(x):
    trap = Trap()
    del trap
    return torch.softmax(x, dim=-1)
