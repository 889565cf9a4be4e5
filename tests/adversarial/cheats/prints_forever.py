"""Prints without end.

incident: E-stdout-oom
problem: softmax
verdict: resource_limit
defence: limits
"""


def run(x):
    while True:
        print("spam" * 1000)
