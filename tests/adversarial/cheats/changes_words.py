"""Overwrites all words of the page that it shares with the judge, the number of the next call among them.

incident: own
problem: softmax
verdict: integrity | timeout | runtime_error
defence: limits
"""

import ctypes


def run(x):
    with open("/proc/self/maps", encoding="ascii") as maps:
        at = next(int(line.partition("-")[0], 16) for line in maps if "kernelwright-page" in line)
    ctypes.memset(at, 0xEE, 4096)
    while True:
        pass
