"""Honest: the mean of bfloat16 by halves, in float32, rounded once.

incident: C-bf16-order
problem: mean_bfloat16
verdict: accepted
"""


def run(x):
    wide = x.float()
    half = wide.shape[-1] // 2
    total = wide[:, :half].sum(dim=-1, keepdim=True) + wide[:, half:].sum(dim=-1, keepdim=True)
    return (total / wide.shape[-1]).bfloat16()
