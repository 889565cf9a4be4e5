"""Uses the input as its workspace.

incident: N-inplace-ce
problem: softmax
verdict: incorrect
defence: nothing_else_written
"""

import torch


def run(x):
    torch.softmax(x, dim=-1, out=x)
    return x.clone()
