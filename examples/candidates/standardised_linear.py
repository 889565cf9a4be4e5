"""Standardised linear layer, module style: one fused multiply-add, then bias and ReLU in place.

Weights and buffers carry the reference's names, so they receive its values.
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, units)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        standardised = torch.sub(x, self.mean).mul_(self.scale)
        return self.linear(standardised).relu_()
