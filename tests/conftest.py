"""What every test shares: tests whose machine is missing are skipped, and say what is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NEEDS = {
    "gpu": (Path("/dev/nvidiactl").exists(), "needs an NVIDIA GPU: there is no /dev/nvidiactl"),
    "docker": (
        bool(os.environ.get("DOCKER_HOST")) or Path("/var/run/docker.sock").exists(),
        "needs a Docker engine: DOCKER_HOST names none (`make test-docker` starts one)",
    ),
    "root": (os.geteuid() == 0, "needs root, to drop to another user"),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked with a need that this machine does not meet."""
    for marker, (met, reason) in NEEDS.items():
        if not met and item.get_closest_marker(marker) is not None:
            pytest.skip(reason)
