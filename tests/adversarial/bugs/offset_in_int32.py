"""Computes offsets in 32 bits: beyond two thousand million they wrap.

incident: N-int32-offset
problem: flat_index
verdict: incorrect
defence: visible
"""

import torch


def run(batch, column):
    stride = torch.tensor(7864320, dtype=torch.int32)
    return (batch.int() * stride + column.int()).long()
