"""What 32 experts say of each token, summed, in bfloat16."""

import torch

CONTRACT = {
    "name": "combine",
    "axes": {"tokens": {"range": [1, 4096]}},
    "inputs": {"x": {"shape": ["tokens", 32], "dtype": "bfloat16"}},
    "outputs": {"y": {"shape": ["tokens"], "dtype": "bfloat16"}},
    "workloads": [{"name": "main", "axes": {"tokens": 4096}}],
    "baselines": ["torch_eager"],
    "timeouts": {"load": 10, "warm_up": 4, "call": 3, "build": 60},
    "memory_bytes": 1073741824,
}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dim=-1)
