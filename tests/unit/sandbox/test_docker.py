"""The docker backend where it cannot work, and what is only seen beside an engine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.api import Profile, SandboxError, SandboxUnavailable
from sandbox.docker import DockerSandbox
from sandbox.docker_engine import Engine
from sandbox.docker_settings import EngineSettings

needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("docker") is None, reason="the Docker SDK is not installed"
)


@pytest.fixture
def sandbox() -> Iterator[DockerSandbox]:
    """On the engine that DOCKER_HOST names."""
    made = DockerSandbox(EngineSettings(spares=1))
    yield made
    made.close()


@needs_sdk
def test_without_an_engine_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")
    with pytest.raises(SandboxUnavailable, match="no engine answers") as refused:
        DockerSandbox().guarantees()
    (missing,) = refused.value.missing
    assert not missing.holds
    assert missing.remedy


@needs_sdk
def test_an_engine_on_another_host_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:2375")
    with pytest.raises(SandboxUnavailable, match="descriptors cannot be handed"):
        DockerSandbox().guarantees()


def test_nothing_is_loaded_before_an_engine_is_asked_for() -> None:
    script = "import sys; import sandbox.docker; print('docker' in sys.modules, 'requests' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.docker
def test_an_image_that_is_not_there_is_named() -> None:
    sandbox = DockerSandbox(EngineSettings(image="kernelwright-no-such-image"))
    with pytest.raises(SandboxUnavailable, match="kernelwright-no-such-image"):
        sandbox.guarantees()


@pytest.mark.docker
def test_a_runtime_that_the_engine_does_not_know_is_an_error() -> None:
    sandbox = DockerSandbox(EngineSettings(runtime="no-such-runtime"))
    with pytest.raises(SandboxError, match="no-such-runtime"):
        sandbox.zygote(["sandbox.probes"])
    sandbox.close()


@pytest.mark.docker
def test_a_container_is_never_used_twice(sandbox: DockerSandbox) -> None:
    zygote = sandbox.zygote(["sandbox.probes"])
    pids = set()
    for _ in range(3):
        process = zygote.spawn("sandbox.probes:answer", Profile())
        pids.add(process.pid)
        process.kill()
    assert len(pids) == 3


@pytest.mark.docker
def test_nothing_is_left_on_the_engine(sandbox: DockerSandbox) -> None:
    engine = Engine()
    before = engine.owners()
    zygote = sandbox.zygote(["sandbox.probes"])
    zygote.spawn("sandbox.probes:answer", Profile())
    assert engine.owners() > before
    sandbox.close()
    assert engine.owners() == before
    engine.close()


@pytest.mark.docker
def test_what_a_dead_judge_and_its_guard_left_is_removed_at_the_next_start(sandbox: DockerSandbox) -> None:
    judge = subprocess.Popen([sys.executable, "-c", JUDGE], stdout=subprocess.PIPE, text=True)
    with judge:
        assert judge.stdout is not None
        owner, guard = judge.stdout.readline().split()
        os.kill(int(guard), 9)
        judge.kill()
    engine = Engine()
    assert owner in engine.owners()
    sandbox.zygote(["sandbox.probes"])
    assert owner not in engine.owners()
    engine.close()


JUDGE = """
import time
from sandbox.api import Profile
from sandbox.docker import DockerSandbox
sandbox = DockerSandbox()
zygote = sandbox.zygote(["sandbox.probes"])
zygote.spawn("sandbox.probes:count", Profile())
print(sandbox.yard.owner, sandbox.yard.guard.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.docker
@pytest.mark.root
def test_timed_calls_may_have_real_time_priority(sandbox: DockerSandbox) -> None:
    process = sandbox.zygote(["sandbox.probes"]).spawn("sandbox.probes:answer", Profile())
    assert os.sched_getscheduler(process.pid) == os.SCHED_OTHER
    os.sched_setscheduler(process.pid, os.SCHED_RR, os.sched_param(1))
    assert os.sched_getscheduler(process.pid) == os.SCHED_RR
