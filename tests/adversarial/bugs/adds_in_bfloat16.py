"""Adds one expert after the other in bfloat16, rounding each time.

incident: N-bf16-moe-sum
problem: combine
verdict: incorrect
defence: hidden
"""


def run(x):
    total = x[:, 0].clone()
    for expert in range(1, x.shape[-1]):
        total += x[:, expert]
    return total
