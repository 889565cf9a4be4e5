"""Which CPUs are whose, and the judge's thread on its own."""

from __future__ import annotations

import os

import torch

from evaluator.judge.clock import Cores, pinned, split_cores


def test_the_judge_has_the_first_core_and_runners_all_others():
    cores = split_cores()
    allowed = sorted(os.sched_getaffinity(0))
    assert cores.judge == allowed[0]
    assert cores.shared == (len(allowed) == 1)
    assert cores.threads == len(cores.runners) == max(1, len(allowed) - 1)
    assert Cores(0, (1, 2)).threads == 2
    assert not Cores(0, (1, 2)).shared
    assert Cores(0, (0,)).shared


def test_the_thread_is_pinned_for_the_block_only():
    before, threads = os.sched_getaffinity(0), torch.get_num_threads()
    core = min(before)
    with pinned(core):
        assert os.sched_getaffinity(0) == {core}
        assert torch.get_num_threads() == 1
    assert os.sched_getaffinity(0) == before
    assert torch.get_num_threads() == threads
