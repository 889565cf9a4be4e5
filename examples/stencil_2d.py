"""One step of the five-point heat equation on a grid; the result is the interior."""

import torch

CONTRACT = {
    "name": "stencil_2d",
    "axes": {"height": {"range": [3, 2048]}, "width": {"range": [3, 2048]}},
    "inputs": {"u": {"shape": ["height", "width"], "dtype": "float32"}},
    "outputs": {"v": {"shape": ["height - 2", "width - 2"], "dtype": "float32"}},
    "workloads": [
        {"name": "small", "axes": {"height": 512, "width": 512}},
        {"name": "large", "axes": {"height": 1024, "width": 1024}, "weight": 2},
        {"name": "odd", "axes": {"height": 331, "width": 1999}},
    ],
}

DIFFUSION = 0.2


def reference(u: torch.Tensor) -> torch.Tensor:
    middle = u[1:-1, 1:-1]
    neighbours = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return middle + DIFFUSION * (neighbours - 4.0 * middle)
