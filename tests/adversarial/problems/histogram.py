"""How often each of 512 numbers occurs."""

import torch

CONTRACT = {
    "name": "histogram",
    "axes": {"n": {"range": [1, 65536]}},
    "inputs": {"x": {"shape": ["n"], "dtype": "int64", "distribution": {"kind": "integer", "high": 512}}},
    "outputs": {"y": {"shape": [512], "dtype": "int64"}},
    "workloads": [{"name": "main", "axes": {"n": 65536}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.bincount(x, minlength=512)
