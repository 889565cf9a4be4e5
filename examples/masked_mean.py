"""The mean over the positions that a bool mask keeps, as in sentence embeddings."""

import torch

CONTRACT = {
    "name": "masked_mean",
    "axes": {
        "batch": {"range": [1, 64]},
        "length": {"range": [1, 1024]},
        "width": {"range": [1, 1024]},
    },
    "inputs": {
        "x": {"shape": ["batch", "length", "width"], "dtype": "float32"},
        "mask": {
            "shape": ["batch", "length"],
            "dtype": "bool",
            "distribution": {"kind": "bernoulli", "p": 0.7},
        },
    },
    "outputs": {"y": {"shape": ["batch", "width"], "dtype": "float32"}},
    "workloads": [
        {"name": "sentences", "axes": {"batch": 16, "length": 128, "width": 384}, "weight": 2},
        {"name": "passages", "axes": {"batch": 4, "length": 512, "width": 768}},
        {"name": "odd", "axes": {"batch": 13, "length": 211, "width": 193}},
    ],
}


def reference(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    kept = mask.unsqueeze(-1)
    total = torch.where(kept, x, 0.0).sum(dim=1)
    return total / kept.sum(dim=1).clamp(min=1)
