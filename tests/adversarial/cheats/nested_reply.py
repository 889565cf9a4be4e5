"""Answers with arrays in arrays, a hundred thousand deep.

incident: own
problem: softmax
verdict: integrity
defence: limits
"""

import os
import struct

DEPTH = 100_000
body = b'{"t":' + b"[" * DEPTH + b"]" * DEPTH + b"}"
frame = struct.pack(">I", len(body)) + body
while frame:
    frame = frame[os.write(3, frame) :]


def run(x):
    return x
