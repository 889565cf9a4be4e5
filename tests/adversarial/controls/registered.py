"""Honest: an operator registered with torch.library, called by its name.

incident: own
problem: soft_cap
verdict: accepted
"""

import torch

library = torch.library.Library("planted", "DEF")
library.define("soft_cap(Tensor x) -> Tensor")
library.impl("soft_cap", lambda x: torch.tanh(x).mul_(30.0), "CPU")


def run(x):
    return torch.ops.planted.soft_cap(x)
