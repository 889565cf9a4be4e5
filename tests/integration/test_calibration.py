"""A machine is calibrated once, by runners in the sandbox; the next judge knows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.api import SandboxUnavailable
from services.bootstrap import open_workshop
from services.settings import read_settings

pytestmark = [pytest.mark.judge, pytest.mark.slow]


@pytest.fixture
def workshop(tmp_path: Path):
    """The real one, in a folder of its own."""
    made = open_workshop(read_settings({}, tmp_path, "cpu"))
    try:
        made.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot isolate hostile code: {e}")
    yield made
    made.close()


def test_what_was_found_is_kept_and_used_by_the_next_judge(workshop):
    with workshop.evaluator(lambda text: None) as judge:
        assert judge.bandwidth is None
        found = judge.calibrate()
        assert judge.bandwidth is not None
    assert found.destination > 0
    assert found.functional > 0
    assert found.resolution >= 50e-6
    assert all(b.rate > 0 for b in found.ceilings.bandwidths)
    with workshop.evaluator(lambda text: None) as judge:
        assert judge.calibration == found
