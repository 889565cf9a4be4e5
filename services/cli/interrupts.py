"""Ctrl-C: the first asks to stop, the second ends at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SHOW_CURSOR = "\x1b[?25h"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Whether a stop was asked for. Use as a context; signal handlers are restored at its end.

    Between the two, transactions run to their end: only code inside `interruptible` is broken off, by
    KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.asked = False
        self._breakable = False

    def __enter__(self) -> Interrupts:
        self._before = {s: signal.signal(s, self._handle) for s in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Work that may be lost: a first Ctrl-C raises KeyboardInterrupt here, also one that came before."""
        self._breakable = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._breakable = False

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.asked:
            end_at_once(number)
        self.asked = True
        if self._breakable:
            raise KeyboardInterrupt


def end_at_once(number: int) -> None:
    """Die by the signal, as a shell expects; sandboxed processes die with their parent."""
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
        sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
