"""Right, but it scales the other operand where that lies.

incident: N-inplace-ce
problem: add_scaled
verdict: incorrect
defence: nothing_else_written
"""


def run(x, y, alpha):
    x.add_(y.mul_(alpha))
