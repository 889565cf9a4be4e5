"""Files in which the kernel tells of the whole host."""

from __future__ import annotations

import os

from sandbox.tales import told


def test_the_load_of_this_host_is_among_what_is_told_and_all_of_it_is_there() -> None:
    found = list(told())
    assert {"/proc/loadavg", "/proc/stat"} <= set(found)
    assert all(os.path.exists(path) for path in found)
