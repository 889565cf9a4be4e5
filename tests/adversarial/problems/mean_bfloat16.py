"""Means of rows in bfloat16."""

import torch

CONTRACT = {
    "name": "mean_bfloat16",
    "axes": {"rows": {"range": [1, 1024]}},
    "inputs": {"x": {"shape": ["rows", 512], "dtype": "bfloat16"}},
    "outputs": {"y": {"shape": ["rows", 1], "dtype": "bfloat16"}},
    "workloads": [{"name": "main", "axes": {"rows": 1024}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=-1, keepdim=True)
