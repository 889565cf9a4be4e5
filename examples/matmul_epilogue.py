"""A matrix product with a bias, a scale that is a Python number, and ReLU behind it."""

import torch

CONTRACT = {
    "name": "matmul_epilogue",
    "axes": {"m": {"range": [1, 1024]}, "n": {"range": [1, 1024]}, "k": {"range": [1, 1024]}},
    "inputs": {
        "a": {"shape": ["m", "k"], "dtype": "float32"},
        "b": {"shape": ["k", "n"], "dtype": "float32"},
        "bias": {"shape": ["n"], "dtype": "float32"},
        "scale": {
            "scalar": True,
            "dtype": "float64",
            "distribution": {"kind": "uniform", "low": 0.25, "high": 4.0},
        },
    },
    "outputs": {"y": {"shape": ["m", "n"], "dtype": "float32"}},
    "workloads": [
        {"name": "square", "axes": {"m": 256, "n": 256, "k": 256}, "weight": 2},
        {"name": "thin", "axes": {"m": 1024, "n": 64, "k": 128}},
        {"name": "odd", "axes": {"m": 251, "n": 509, "k": 127}},
    ],
}


def reference(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.relu((a @ b + bias) * scale)
