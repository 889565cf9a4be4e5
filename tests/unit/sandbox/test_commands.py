"""Names that a cold process may be given."""

from __future__ import annotations

import pytest

from sandbox.api import Command
from sandbox.commands import check


def test_relative_names_are_accepted() -> None:
    check(Command(("true",), {"a": b"", "folder/b.c": b""}, ("..a", "x/y")))


@pytest.mark.parametrize("name", ["", ".", "/a", "..", "a/../b", "../a"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="relative name"):
        check(Command(("true",), {name: b""}))
    with pytest.raises(ValueError, match="relative name"):
        check(Command(("true",), collect=(name,)))


def test_a_command_needs_a_program() -> None:
    with pytest.raises(ValueError, match="program"):
        check(Command(()))
