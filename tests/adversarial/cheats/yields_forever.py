"""Threads that do nothing but give the core away, to disturb whoever shares it. The call itself is honest.

incident: own
problem: softmax
verdict: accepted | timeout
defence: limits
"""

import os
import threading

import torch


def storm():
    while True:
        os.sched_yield()


for _ in range(4):
    threading.Thread(target=storm, daemon=True).start()


def run(x):
    return torch.softmax(x, dim=-1)
