"""A bias added to the rows of a matrix, then GELU (exact, by erf)."""

import torch
from torch.nn import functional

CONTRACT = {
    "name": "bias_gelu",
    "axes": {"tokens": {"range": [1, 4096]}, "width": {"range": [1, 4096]}},
    "inputs": {
        "x": {"shape": ["tokens", "width"], "dtype": "float32"},
        "bias": {"shape": ["width"], "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["tokens", "width"], "dtype": "float32"}},
    "workloads": [
        {"name": "small", "axes": {"tokens": 256, "width": 1024}},
        {"name": "large", "axes": {"tokens": 512, "width": 4096}, "weight": 2},
        {"name": "odd", "axes": {"tokens": 1531, "width": 251}},
    ],
}


def reference(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return functional.gelu(x + bias)
