"""Leaves the subtraction of the row's maximum out: it overflows as soon as a value is large.

incident: N-softcap
problem: softmax
verdict: incorrect
defence: numerics
"""


def run(x):
    e = x.exp()
    return e / e.sum(dim=-1, keepdim=True)
