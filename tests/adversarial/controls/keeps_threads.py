"""Honest: a pool of threads that outlives the call; each call waits for its own share of the work.

incident: own
problem: softmax
verdict: accepted
"""

from concurrent.futures import ThreadPoolExecutor

import torch

PARTS = 4
pool = ThreadPoolExecutor(PARTS)


def run(x):
    out = torch.empty_like(x)
    parts = zip(x.tensor_split(PARTS), out.tensor_split(PARTS), strict=True)
    for done in [pool.submit(torch.softmax, part, -1, out=into) for part, into in parts]:
        done.result()
    return out
