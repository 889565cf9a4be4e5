"""Returns rows of a wider tensor, where rows should lie side by side.

incident: N-noncontig
problem: exp_transposed
verdict: incorrect
defence: visible
"""

import torch


def run(x):
    wide = torch.empty(x.shape[1], x.shape[0] + 8)
    return torch.exp(x.t(), out=wide[:, : x.shape[0]])
