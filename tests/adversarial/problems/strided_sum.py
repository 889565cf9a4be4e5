"""Sums of rows of two tensors that do not lie row by row: one transposed, one cut from a wider one."""

import torch

CONTRACT = {
    "name": "strided_sum",
    "axes": {"rows": {"range": [1, 512]}, "cols": {"range": [1, 512]}},
    "inputs": {
        "a": {"shape": ["rows", "cols"], "dtype": "float32", "layout": "transposed"},
        "b": {"shape": ["rows", "cols"], "dtype": "float32", "layout": "sliced"},
    },
    "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 512, "cols": 512}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.sum(dim=-1) + b.sum(dim=-1)
