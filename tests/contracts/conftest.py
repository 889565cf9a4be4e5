"""Every sandbox backend that this host can run (`backends.py`), for one conformance suite.

A check that a backend names in `known_gaps` must fail there, so that a gap which closes fails the suite.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.api import Process, Profile, Sandbox, SandboxUnavailable, Zygote
from tests.contracts.backends import BACKENDS
from tests.contracts.inside import SMALL


def check_name(request: pytest.FixtureRequest) -> str:
    """The name that a backend's `known_gaps` uses for a check."""
    name: str = request.node.originalname
    return name.removeprefix("test_")


@pytest.fixture(scope="session", params=[pytest.param(n, marks=BACKENDS[n].marks) for n in sorted(BACKENDS)])
def backend(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A backend, closed at the end."""
    sandbox = BACKENDS[request.param].make()
    try:
        sandbox.guarantees()
        yield sandbox
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot run it: {e}")
    finally:
        sandbox.close()


@pytest.fixture(autouse=True)
def gap(request: pytest.FixtureRequest) -> None:
    """Expect a check to fail, by its own words and not by a broken machine, where the backend names it as a gap."""
    if "backend" not in request.fixturenames:
        return
    sandbox: Sandbox = request.getfixturevalue("backend")
    reason = sandbox.known_gaps().get(check_name(request))
    if reason is not None:
        failures = (AssertionError, pytest.fail.Exception)
        request.node.add_marker(pytest.mark.xfail(reason=reason, raises=failures, strict=True))


@pytest.fixture(scope="session")
def zygote(backend: Sandbox) -> Zygote:
    """A fork server with the entries of `sandbox_entries`."""
    return preloaded(backend, "sandbox_entries")


def preloaded(backend: Sandbox, *modules: str) -> Zygote:
    """A zygote with these modules, some of which lie in this folder."""
    folder = str(Path(__file__).parent)
    sys.path.append(folder)
    try:
        return backend.zygote(modules)
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
