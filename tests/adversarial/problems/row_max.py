"""The largest of each row, of a hundred columns that everybody pads to 128."""

import torch

CONTRACT = {
    "name": "row_max",
    "axes": {"rows": {"range": [1, 2048]}},
    "inputs": {"x": {"shape": ["rows", 100], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 2048}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.amax(dim=-1)
