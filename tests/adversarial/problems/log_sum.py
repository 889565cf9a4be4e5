"""log(sum(exp)) of each row, kept as a column: an output with a dimension of one element."""

import torch

CONTRACT = {
    "name": "log_sum",
    "axes": {"rows": {"range": [2, 256]}, "cols": {"range": [2, 1024]}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", 1], "dtype": "float32"}},
    "workloads": [{"name": "main", "axes": {"rows": 256, "cols": 1024}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(x, dim=-1, keepdim=True)
