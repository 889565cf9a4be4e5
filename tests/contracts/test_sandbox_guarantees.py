"""What a backend says of itself: guarantees found by trying, and gaps that it knows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from sandbox.api import Sandbox

HERE = Path(__file__).parent
FEWEST_CHECKS = 60


def checks() -> list[str]:
    """The names of all checks of the suite."""
    texts = (path.read_text() for path in sorted(HERE.glob("test_sandbox_*.py")))
    return [name for text in texts for name in re.findall(r"^\s*def test_(\w+)\(", text, re.MULTILINE)]


def test_checks_have_names_of_their_own() -> None:
    assert [name for name, times in Counter(checks()).items() if times > 1] == []
    assert len(checks()) >= FEWEST_CHECKS


def test_exactly_the_guarantees_that_are_no_known_gaps_hold(backend: Sandbox) -> None:
    gaps = backend.known_gaps()
    found = backend.guarantees()
    assert {g.name for g in found if not g.holds} == {g.name for g in found if g.name in gaps}
    assert backend.guarantees() is found


def test_every_guarantee_says_what_was_found_and_what_would_help(backend: Sandbox) -> None:
    assert all(g.detail for g in backend.guarantees())
    assert all(g.remedy for g in backend.guarantees() if not g.holds)


def test_every_known_gap_is_a_guarantee_or_a_check_and_has_a_reason(backend: Sandbox) -> None:
    known = {g.name for g in backend.guarantees()} | set(checks())
    gaps = backend.known_gaps()
    assert set(gaps) - known == set()
    assert all(gaps.values())
