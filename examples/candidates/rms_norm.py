"""RMSNorm, functional style: torch's fused operator in place of five calls."""

import torch
from torch.nn import functional


def run(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, (x.shape[-1],), weight, eps=1e-6)
