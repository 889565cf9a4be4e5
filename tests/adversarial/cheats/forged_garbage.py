"""Sends bytes that are no message: a length of four gigabytes.

incident: own
problem: softmax
verdict: integrity
defence: limits
"""

import os

os.write(3, b"\xff" * 64)


def run(x):
    return x
