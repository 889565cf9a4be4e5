"""A product of two matrices."""

import torch

CONTRACT = {
    "name": "matmul",
    "axes": {"m": {"range": [1, 128]}, "n": {"range": [1, 128]}, "k": {"range": [1, 256]}},
    "inputs": {
        "a": {"shape": ["m", "k"], "dtype": "float32"},
        "b": {"shape": ["k", "n"], "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["m", "n"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"m": 128, "n": 128, "k": 256}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b
