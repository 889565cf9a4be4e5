"""Has no weights at all, so that none can be given to it. Nothing shows that it would use them.

incident: H-zero-weights
problem: layer_norm
verdict: accepted
defence: limits
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, (1024,))
