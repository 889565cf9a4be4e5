"""Which CPUs are whose, and the judge's thread on its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Cores:
    """Which CPUs are whose. With one core both share it, and no time is worth anything."""

    judge: int
    runners: tuple[int, ...]

    @property
    def threads(self) -> int:
        """Threads of baseline and candidate alike."""
        return len(self.runners)

    @property
    def shared(self) -> bool:
        """Whether the judge has no core of its own."""
        return self.judge in self.runners


def split_cores() -> Cores:
    """The first allowed CPU for the judge, all others for runners."""
    first, *others = sorted(os.sched_getaffinity(0))
    return Cores(first, tuple(others) or (first,))


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """This thread on one core, with one torch thread, for the time of the block."""
    before, threads = os.sched_getaffinity(0), torch.get_num_threads()
    os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        torch.set_num_threads(threads)
