"""Every sandbox backend that this host can run, for one conformance suite."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.api import Limits, Process, Profile, Sandbox, SandboxUnavailable, Zygote
from sandbox.local import LocalSandbox

BACKENDS: dict[str, Callable[[], Sandbox]] = {"namespaces": LocalSandbox}
SMALL = Limits(memory_bytes=1 << 30, processes=32, tmpfs_bytes=16 << 20, output_bytes=64 << 10)


@pytest.fixture(scope="session", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A backend, closed at the end."""
    sandbox = BACKENDS[request.param]()
    try:
        sandbox.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot run it: {e}")
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def zygote(backend: Sandbox) -> Zygote:
    """A fork server with the entries of `sandbox_entries`."""
    folder = str(Path(__file__).parent)
    sys.path.append(folder)
    try:
        return backend.zygote(["sandbox_entries"])
    finally:
        sys.path.remove(folder)


@pytest.fixture
def spawn(zygote: Zygote) -> Iterator[Callable[..., Process]]:
    """Start an entry of `sandbox_entries`; what was started is killed at the end."""
    started: list[Process] = []

    def start(entry: str, profile: Profile | None = None) -> Process:
        process = zygote.spawn(f"sandbox_entries:{entry}", profile or Profile(limits=SMALL))
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()


@pytest.fixture
def needs_memory_limit(backend: Sandbox) -> None:
    """Skip where the host bounds memory for each process only."""
    if not {g.name: g.holds for g in backend.guarantees()}["memory_limit"]:
        pytest.skip("no control group bounds memory here")
