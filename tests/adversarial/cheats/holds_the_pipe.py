"""Hangs, while a grandchild in a session of its own keeps everything open that it inherited.

incident: E-timeout-grandchild
problem: softmax
verdict: timeout
defence: limits
"""

import os
import time


def run(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(3600)
        os._exit(0)
    while True:
        time.sleep(3600)
