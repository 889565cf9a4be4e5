"""Honest: computes in inference mode: its results carry no version counter.

incident: own
problem: softmax
verdict: accepted
"""

import torch


@torch.inference_mode()
def run(x):
    return torch.softmax(x, dim=-1)
