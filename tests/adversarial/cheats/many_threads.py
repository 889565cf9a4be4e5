"""Starts more threads than it may, in every call, and never ends them.

incident: own
problem: softmax
verdict: runtime_error | resource_limit
defence: limits
"""

import threading

import torch

never = threading.Event()


def run(x):
    for _ in range(200):
        threading.Thread(target=never.wait, daemon=True).start()
    return torch.softmax(x, dim=-1)
