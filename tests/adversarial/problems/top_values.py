"""The eight largest of each row, largest first."""

import torch

CONTRACT = {
    "name": "top_values",
    "axes": {"rows": {"range": [1, 256]}, "cols": {"range": [8, 1024]}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", 8], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 256, "cols": 1024}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.topk(x, 8, dim=-1).values
