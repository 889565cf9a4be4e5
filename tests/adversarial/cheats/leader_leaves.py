"""The process's first thread leaves; another one stays and goes on as if it were the process.

incident: own
problem: softmax
verdict: runtime_error | integrity | timeout
defence: limits
"""

import ctypes
import platform
import threading
import time

EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]


def run(x):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    ctypes.CDLL(None).syscall(EXIT, 0)
