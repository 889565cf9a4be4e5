"""Softmax over more rows: long enough that what a cheat needs itself does not matter."""

import torch

CONTRACT = {
    "name": "large_softmax",
    "axes": {"rows": {"range": [1, 512]}, "cols": {"range": [1, 2048]}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 512, "cols": 2048}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)
