"""RMSNorm over the last dimension, with a weight."""

import torch

CONTRACT = {
    "name": "rms_norm",
    "axes": {"tokens": {"range": [1, 4096]}, "width": {"range": [1, 4096]}},
    "inputs": {
        "x": {"shape": ["tokens", "width"], "dtype": "float32"},
        "weight": {
            "shape": ["width"],
            "dtype": "float32",
            "distribution": {"kind": "uniform", "low": 0.5, "high": 1.5},
        },
    },
    "outputs": {"y": {"shape": ["tokens", "width"], "dtype": "float32"}},
    "workloads": [
        {"name": "wide", "axes": {"tokens": 256, "width": 4096}},
        {"name": "square", "axes": {"tokens": 1024, "width": 1024}, "weight": 2},
        {"name": "odd", "axes": {"tokens": 2039, "width": 383}},
    ],
}


def reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * weight
