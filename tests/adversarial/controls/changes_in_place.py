"""Honest: changes its input in place, by way of a product of its own.

incident: own
problem: add_scaled
verdict: accepted
"""


def run(x, y, alpha):
    x.add_(y * alpha)
