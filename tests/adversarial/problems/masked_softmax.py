"""Softmax over the allowed entries of each row; zeros where none is allowed."""

import torch

CONTRACT = {
    "name": "masked_softmax",
    "axes": {"rows": {"range": [1, 512]}, "cols": {"range": [1, 64]}},
    "inputs": {
        "x": {"shape": ["rows", "cols"], "dtype": "float32"},
        "allowed": {
            "shape": ["rows", "cols"],
            "dtype": "bool",
            "distribution": {"kind": "bernoulli", "p": 0.04},
        },
    },
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 512, "cols": 64}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(x.masked_fill(~allowed, float("-inf")), dim=-1)
    return torch.where(allowed, y, 0.0)
