"""Returns at once; a thread finishes the output afterwards.

incident: H-thread
problem: large_softmax
verdict: incorrect | integrity
defence: sample_inside_clock
gain: 1.5
"""

import threading
import time

import torch


def run(x):
    out = torch.empty_like(x)

    def work():
        time.sleep(0.001)
        torch.softmax(x, dim=-1, out=out)

    threading.Thread(target=work, daemon=True).start()
    return out
