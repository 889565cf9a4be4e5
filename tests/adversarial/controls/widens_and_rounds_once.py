"""Honest: adds in float32 and rounds once, at the end: nearer to the truth than the reference.

incident: C-bf16-order
problem: combine
verdict: accepted
"""


def run(x):
    return x.float().sum(dim=-1).bfloat16()
