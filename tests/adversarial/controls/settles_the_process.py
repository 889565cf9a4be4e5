"""Honest: turns the collector off and warnings down, names its threads, says so on standard error.

incident: C-lint-false-pos
problem: softmax
verdict: accepted
"""

import atexit
import gc
import os
import signal
import sys
import threading
import warnings

import torch

gc.disable()
gc.freeze()
warnings.simplefilter("ignore")
threading.current_thread().name = "timer"
os.environ["TORCH_SHOW_CPP_STACKTRACES"] = "1"
sys.setswitchinterval(0.001)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
atexit.register(print, "elapsed: unknown")
torch.set_flush_denormal(True)


def run(x):
    print("softmax", tuple(x.shape), file=sys.stderr)
    return torch.softmax(x, dim=-1)
