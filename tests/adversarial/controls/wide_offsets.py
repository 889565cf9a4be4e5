"""Honest: the whole product in 64 bits.

incident: N-int32-offset
problem: flat_index
verdict: accepted
"""


def run(batch, column):
    return batch.mul(7864320).add_(column)
