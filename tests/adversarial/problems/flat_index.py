"""Where elements of a large tensor lie: batch times stride plus column, beyond 32 bits."""

import torch

CONTRACT = {
    "name": "flat_index",
    "axes": {"n": {"range": [1, 65536]}},
    "inputs": {
        "batch": {"shape": ["n"], "dtype": "int64", "distribution": {"kind": "integer", "high": 512}},
        "column": {"shape": ["n"], "dtype": "int64", "distribution": {"kind": "integer", "high": 7864320}},
    },
    "outputs": {"y": {"shape": ["n"], "dtype": "int64"}},
    "workloads": [{"name": "main", "axes": {"n": 65536}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(batch: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
    return batch * 7864320 + column
