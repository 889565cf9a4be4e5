"""Integer division that rounds down, signs mixed."""

import torch

CONTRACT = {
    "name": "floor_divide",
    "axes": {"n": {"range": [1, 65536]}},
    "inputs": {
        "a": {
            "shape": ["n"],
            "dtype": "int32",
            "distribution": {"kind": "integer", "low": -1000, "high": 1000},
        },
        "b": {"shape": ["n"], "dtype": "int32", "distribution": {"kind": "integer", "low": 1, "high": 20}},
    },
    "outputs": {"y": {"shape": ["n"], "dtype": "int32"}},
    "workloads": [{"name": "main", "axes": {"n": 65536}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.floor_divide(a, b)
