"""Multiplies matrices in bfloat16 and widens the result.

incident: H-precision-down
problem: matmul
verdict: incorrect
defence: derived_bound
"""


def run(a, b):
    return (a.bfloat16() @ b.bfloat16()).float()
