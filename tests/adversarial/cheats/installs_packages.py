"""Runs an installer at import, over the network and into the interpreter's folder.

incident: H-runtime-install
problem: softmax
verdict: accepted
defence: limits
"""

import contextlib
import socket
import subprocess
import sys
import sysconfig

import torch

done = subprocess.run(
    [sys.executable, "-c", f"open({sysconfig.get_path('purelib')!r} + '/planted.py', 'w')"],
    capture_output=True,
    check=False,
)
if done.returncode == 0:
    raise RuntimeError("could write where packages lie")
with contextlib.suppress(OSError):
    socket.create_connection(("127.0.0.1", 80), timeout=1)
    raise RuntimeError("there is a network")


def run(x):
    return torch.softmax(x, dim=-1)
