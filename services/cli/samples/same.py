"""The reference itself as a candidate: what is measured of it is how well equal things are told to be equal."""

import torch


def run(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)
