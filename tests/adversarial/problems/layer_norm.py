"""A module whose weight is all ones and whose bias is all zeros until it is trained."""

import torch
from torch import nn

CONTRACT = {
    "name": "layer_norm",
    "axes": {"rows": {"range": [1, 256]}, "cols": 1024},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 256}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(1024)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.norm(x)
        return y
