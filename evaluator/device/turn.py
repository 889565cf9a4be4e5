"""One evaluation at a time on this machine's cores, whoever runs it.

The turn is a name bound in the abstract socket namespace: the kernel gives it back when its holder dies, however
that happens, it needs no file and no rights, and every user of the host sees the same one. A second name is held by
whoever is next, so that one who has just had the turn cannot take it again before another who waits.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NAME = "\0kernelwright/evaluation/cpu"
NEXT = "/next"
PAUSE = 0.05
SHORT_PAUSE = 0.002


@contextmanager
def turn(
    say: Callable[[str], None], name: str = NAME, check: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Wait until nobody else evaluates here, then hold the turn for the time of the block.

    `check` is called while waiting, and gives up by raising.
    """
    told = False

    def wait(pause: float) -> None:
        nonlocal told
        if not told:
            say("waiting: another evaluation runs on this machine")
            told = True
        check()
        time.sleep(pause)

    with _socket() as holder:
        with _socket() as waiting:
            while not _bound(waiting, name + NEXT):
                wait(PAUSE)
            while not _bound(holder, name):
                wait(SHORT_PAUSE)
        yield


def _socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


def _bound(holder: socket.socket, name: str) -> bool:
    try:
        holder.bind(name)
    except OSError as e:
        if e.errno != errno.EADDRINUSE:
            raise
        return False
    return True
