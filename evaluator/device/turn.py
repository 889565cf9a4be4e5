"""One evaluation at a time on this machine's cores, whoever runs it.

The turn is a name bound in the abstract socket namespace: the kernel gives it back when its holder dies, however
that happens, it needs no file and no rights, and every user of the host sees the same one.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NAME = "\0kernelwright/evaluation/cpu"
PAUSE = 0.05


@contextmanager
def turn(say: Callable[[str], None], name: str = NAME) -> Iterator[None]:
    """Wait until nobody else evaluates here, then hold the turn for the time of the block."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        told = False
        while not _bound(holder, name):
            if not told:
                say("waiting: another evaluation runs on this machine")
                told = True
            time.sleep(PAUSE)
        yield


def _bound(holder: socket.socket, name: str) -> bool:
    try:
        holder.bind(name)
    except OSError as e:
        if e.errno != errno.EADDRINUSE:
            raise
        return False
    return True
