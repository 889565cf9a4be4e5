"""Softmax over the rows of a matrix."""

import torch

CONTRACT = {
    "name": "softmax",
    "axes": {"rows": {"range": [1, 4096]}, "cols": {"range": [1, 8192]}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "workloads": [
        {"name": "square", "axes": {"rows": 1024, "cols": 1024}, "weight": 3},
        {"name": "wide", "axes": {"rows": 128, "cols": 8192}},
        {"name": "odd", "axes": {"rows": 4093, "cols": 257}},
    ],
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)
