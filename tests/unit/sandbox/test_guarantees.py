"""The self-test, on this host."""

from __future__ import annotations

import os

import pytest

from sandbox.api import SandboxUnavailable
from sandbox.local import LocalSandbox

OPTIONAL = {"own_uid", "memory_limit", "landlock"}


def test_every_guarantee_holds_but_those_that_a_host_may_lack() -> None:
    sandbox = LocalSandbox()
    try:
        found = {g.name: g for g in sandbox.guarantees()}
        assert sandbox.guarantees() is sandbox.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(str(e))
    finally:
        sandbox.close()
    assert {name for name, g in found.items() if not g.holds} <= OPTIONAL
    assert all(g.detail for g in found.values())
    assert all(g.remedy for g in found.values() if not g.holds)
    assert found["own_uid"].holds == (os.geteuid() == 0)
