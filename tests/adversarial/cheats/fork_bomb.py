"""Forks as fast as it can, at import and for ever.

incident: E-timeout-grandchild
problem: softmax
verdict: timeout | resource_limit | runtime_error
defence: limits
"""

import contextlib
import os


def run(x):
    while True:
        with contextlib.suppress(OSError):
            os.fork()
