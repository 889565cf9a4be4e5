"""Honest: sums in another order, by halves, in float32.

incident: C-bf16-order
problem: log_sum
verdict: accepted
"""


def run(x):
    most = x.amax(dim=-1, keepdim=True)
    e = (x - most).exp()
    total = e[:, ::2].sum(dim=-1, keepdim=True) + e[:, 1::2].sum(dim=-1, keepdim=True)
    return total.log() + most
