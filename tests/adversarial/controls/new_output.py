"""Honest: a module of its own weights, whose output torch.empty allocates anew for every call.

incident: C-grep-false-pos
problem: layer_norm
verdict: accepted
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(1024)

    def forward(self, x):
        out = torch.empty(x.shape)
        out.copy_(self.norm(x))
        return out
