"""Leaves the last of 1024 terms out, where values are so small that a fixed tolerance would not see it.

incident: E-fixed-atol
problem: small_values
verdict: incorrect
defence: visible
"""


def run(x):
    return x[:, : max(1, x.shape[-1] - 1)].sum(dim=-1)
