"""Changes only the first half in place, where the whole should change.

incident: own
problem: add_scaled
verdict: incorrect
defence: visible
"""


def run(x, y, alpha):
    half = x.shape[0] // 2
    x[:half].add_(y[:half], alpha=alpha)
