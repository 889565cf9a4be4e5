"""Raises SystemExit(0) in a call.

incident: own
problem: softmax
verdict: runtime_error
defence: limits
"""

import sys


def run(x):
    sys.exit(0)
