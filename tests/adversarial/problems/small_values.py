"""Sums of rows at a thousandth of the usual scale."""

import torch

CONTRACT = {
    "name": "small_values",
    "axes": {"rows": {"range": [1, 256]}, "cols": {"range": [1, 1024]}},
    "inputs": {
        "x": {
            "shape": ["rows", "cols"],
            "dtype": "float32",
            "distribution": {"kind": "normal", "std": 0.001},
        },
    },
    "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 256, "cols": 1024}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dim=-1)
