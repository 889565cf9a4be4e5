"""Of equal values it takes the last place, where torch takes the first.

incident: own
problem: max_and_place
verdict: incorrect
defence: hidden
"""


def run(x):
    value, place = x.flip(-1).max(dim=-1)
    return value, x.shape[-1] - 1 - place
