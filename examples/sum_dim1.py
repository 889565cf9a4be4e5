"""The sum along dimension 1 of a three-dimensional tensor."""

import torch

CONTRACT = {
    "name": "sum_dim1",
    "axes": {"batch": {"range": [1, 64]}, "length": {"range": [1, 2048]}, "width": {"range": [1, 1024]}},
    "inputs": {"x": {"shape": ["batch", "length", "width"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["batch", "width"], "dtype": "float32"}},
    "workloads": [
        {"name": "long", "axes": {"batch": 8, "length": 2048, "width": 256}},
        {"name": "wide", "axes": {"batch": 16, "length": 128, "width": 1024}, "weight": 2},
        {"name": "odd", "axes": {"batch": 13, "length": 1021, "width": 251}},
    ],
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dim=1)
