"""The sum of exponentials in float64: exact, and no faster than anything.

incident: own
problem: few_rows
verdict: accepted
"""


def run(x):
    return x.double().exp().sum(dim=-1, keepdim=True).log().float()
