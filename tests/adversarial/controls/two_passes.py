"""Honest: mean and variance in two passes, as the library does.

incident: own
problem: layer_norm_rows
verdict: accepted
"""


def run(x):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred * (centred.square().mean(dim=-1, keepdim=True) + 1e-5).rsqrt()
