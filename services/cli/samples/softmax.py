"""Softmax over rows, on which the evaluator itself is measured."""

import torch

CONTRACT = {
    "name": "softmax",
    "axes": {"rows": {"range": [1, 1024]}, "cols": {"range": [1, 2048]}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 512, "cols": 1024}}],
    "baselines": ["torch_eager"],
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)
