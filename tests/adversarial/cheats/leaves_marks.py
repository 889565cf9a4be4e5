"""Leaves marks wherever it can write, and looks for those of an earlier process of its own.

incident: own
problem: softmax
verdict: accepted
defence: limits
"""

import contextlib
import os
import socket
import tempfile

import torch

FOLDERS = (
    "/tmp",
    "/dev/shm",
    "/var/tmp",
    "/run",
    "/dev/mqueue",
    os.path.expanduser("~"),
    tempfile.gettempdir(),
)
holders: list[socket.socket] = []

for folder in set(FOLDERS):
    path = os.path.join(folder, "planted-mark")
    if os.path.exists(path):
        raise RuntimeError(f"an earlier process left {path}")
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
        file.write("mark")
with contextlib.suppress(PermissionError):
    holders.append(socket.socket(socket.AF_UNIX))
    holders[-1].bind("\0planted-mark")


def run(x):
    return torch.softmax(x, dim=-1)
