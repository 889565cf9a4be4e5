"""Uids of their own."""

from __future__ import annotations

import os

import pytest

from sandbox.api import SandboxError
from sandbox.uids import FIRST_UID, SLOTS, UidPool, may_choose_uids


def test_living_uids_differ_and_are_this_process_s_own() -> None:
    pool = UidPool()
    taken = {pool.take() for _ in range(SLOTS)}
    assert len(taken) == SLOTS
    first = FIRST_UID + os.getpid() * SLOTS
    assert taken == set(range(first, first + SLOTS))
    with pytest.raises(SandboxError, match="alive already"):
        pool.take()


def test_a_uid_comes_back_as_late_as_possible() -> None:
    pool = UidPool()
    first = pool.take()
    pool.give_back(first)
    assert first not in {pool.take() for _ in range(SLOTS - 1)}
    assert pool.take() == first


def test_only_root_chooses_uids() -> None:
    assert not may_choose_uids() or os.geteuid() == 0
