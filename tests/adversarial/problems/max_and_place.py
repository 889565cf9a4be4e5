"""The largest of each row and where it is: two outputs, of two dtypes."""

import torch

CONTRACT = {
    "name": "max_and_place",
    "axes": {"rows": {"range": [1, 256]}, "cols": {"range": [1, 1024]}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {
        "value": {"shape": ["rows"], "dtype": "float32"},
        "place": {"shape": ["rows"], "dtype": "int64"},
    },
    "workloads": [{"name": "main", "axes": {"rows": 256, "cols": 1024}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value, place = x.max(dim=-1)
    return value, place
