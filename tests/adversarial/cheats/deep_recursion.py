"""Recurses until the interpreter gives up, and lifts the interpreter's limit first.

incident: own
problem: softmax
verdict: runtime_error | resource_limit
defence: limits
"""

import sys

sys.setrecursionlimit(1 << 30)


def run(x):
    return run(x)
