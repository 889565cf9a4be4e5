"""Softmax over rows of scores to which a mask is added: minus infinity where attention may not go."""

import torch

CONTRACT = {
    "name": "masked_softmax",
    "axes": {"rows": {"range": [1, 4096]}, "keys": {"range": [1, 4096]}},
    "inputs": {
        "scores": {"shape": ["rows", "keys"], "dtype": "float32", "layouts": ["sliced"]},
        "mask": {"shape": ["rows", "keys"], "dtype": "float32", "special_values": ["-inf"]},
    },
    "outputs": {"y": {"shape": ["rows", "keys"], "dtype": "float32"}},
    "workloads": [
        {"name": "square", "axes": {"rows": 1024, "keys": 1024}, "weight": 2},
        {"name": "long", "axes": {"rows": 64, "keys": 4096}},
        {"name": "odd", "axes": {"rows": 509, "keys": 1021}},
    ],
}


def reference(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores + mask, dim=-1)
