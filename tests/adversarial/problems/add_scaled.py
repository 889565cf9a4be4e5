"""A vector added to another one in place, scaled: nothing is returned but one changes."""

import torch

CONTRACT = {
    "name": "add_scaled",
    "axes": {"n": {"range": [1, 262144]}},
    "inputs": {
        "x": {"shape": ["n"], "dtype": "float32"},
        "y": {"shape": ["n"], "dtype": "float32"},
        "alpha": {"dtype": "float64", "scalar": True},
    },
    "workloads": [{"name": "main", "axes": {"n": 262144}}],
    "mutates": ["x"],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor, y: torch.Tensor, alpha: float) -> None:
    x.add_(y, alpha=alpha)
