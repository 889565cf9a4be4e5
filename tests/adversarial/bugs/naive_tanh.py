"""tanh by its definition: infinity over infinity where values are large.

incident: N-softcap
problem: soft_cap
verdict: incorrect
defence: hidden
"""


def run(x):
    up, down = x.exp(), (-x).exp()
    return 30.0 * (up - down) / (up + down)
