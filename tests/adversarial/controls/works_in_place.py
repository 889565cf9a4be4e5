"""Honest: every step in place, on a workspace of its own.

incident: N-inplace-ce
problem: softmax
verdict: accepted
"""


def run(x):
    work = x - x.amax(dim=-1, keepdim=True)
    work.exp_()
    return work.div_(work.sum(dim=-1, keepdim=True))
