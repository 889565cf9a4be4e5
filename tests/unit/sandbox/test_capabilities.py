"""The capabilities of this process."""

from __future__ import annotations

import os

from sandbox.capabilities import SETUID, has_rights


def test_only_root_has_rights() -> None:
    assert has_rights(())
    assert has_rights((SETUID,)) == (os.geteuid() == 0)
