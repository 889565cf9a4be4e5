"""Whether others run on this host just now."""

from __future__ import annotations

import os
import time

from evaluator.device.load import await_quiet, others_run, spare_cpus


def test_with_cpus_for_everybody_nobody_is_in_the_way():
    assert not others_run(spare=1 << 20)
    assert await_quiet(spare=1 << 20, patience=60.0)


def test_waiting_ends_where_it_is_never_quiet():
    start = time.perf_counter()
    assert not await_quiet(spare=-(1 << 20), patience=0.02)
    assert time.perf_counter() - start >= 0.02


def test_cpus_that_nobody_here_uses_are_spare():
    count = os.cpu_count() or 1
    assert spare_cpus(count) == 0
    assert spare_cpus(count + 5) == 0
    assert spare_cpus(0) == count
