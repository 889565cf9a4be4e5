"""Honest: sums of values a thousand times as large, by halves.

incident: E-fixed-atol
problem: large_values
verdict: accepted
"""


def run(x):
    return x[:, ::2].sum(dim=-1) + x[:, 1::2].sum(dim=-1)
