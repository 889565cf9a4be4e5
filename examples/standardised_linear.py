"""KernelBench style: features standardised by stored statistics (buffers), a linear layer (weights), ReLU."""

import torch
import torch.nn as nn

batch = 512
features = units = 256


class Model(nn.Module):
    def __init__(self, features: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, units)
        self.register_buffer("mean", 0.1 * torch.randn(features))
        self.register_buffer("scale", 0.5 + torch.rand(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear((x - self.mean) * self.scale))


def get_inputs():
    return [torch.randn(batch, features)]


def get_init_inputs():
    return [features, units]
