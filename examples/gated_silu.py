"""KernelBench style: SiLU of one matrix times another, as in gated feed-forward layers."""

import torch
import torch.nn as nn

rows = 512
width = 2 * rows


class Model(nn.Module):
    def forward(self, gate: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(gate) * value


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return []
