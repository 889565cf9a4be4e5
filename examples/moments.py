"""Mean and variance of each row: two outputs."""

import torch

CONTRACT = {
    "name": "moments",
    "axes": {"rows": {"range": [1, 4096]}, "cols": {"range": [2, 8192]}},
    "inputs": {
        "x": {
            "shape": ["rows", "cols"],
            "dtype": "float32",
            "distribution": {"kind": "normal", "mean": 1.0, "std": 2.0},
        }
    },
    "outputs": {
        "mean": {"shape": ["rows"], "dtype": "float32"},
        "variance": {"shape": ["rows"], "dtype": "float32"},
    },
    "workloads": [
        {"name": "square", "axes": {"rows": 1024, "cols": 1024}},
        {"name": "odd", "axes": {"rows": 251, "cols": 4099}},
    ],
}


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.mean(dim=-1), x.var(dim=-1, unbiased=False)
