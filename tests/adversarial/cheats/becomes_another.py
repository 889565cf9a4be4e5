"""Puts another program in its place, in the middle of a call, which sits on the channel.

incident: own
problem: softmax
verdict: runtime_error | integrity | timeout
defence: limits
"""

import os


def run(x):
    os.execv("/bin/sleep", ["sleep", "3600"])
