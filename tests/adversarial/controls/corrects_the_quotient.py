"""Honest: rounds towards zero, then goes down by one where signs differ and something is left.

incident: N-floordiv
problem: floor_divide
verdict: accepted
"""

import torch


def run(a, b):
    quotient = torch.div(a, b, rounding_mode="trunc")
    left = a - quotient * b
    return quotient - ((left != 0) & ((left < 0) != (b < 0))).int()
