"""The tiers of the local backend on hosts that refuse namespaces, and what a tier says of itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sandbox import landlock
from sandbox.api import SandboxError, SandboxUnavailable, Tier
from sandbox.local import LocalSandbox

REFUSING_HOST = """
import os, sys
from sandbox import syscalls as sc
from sandbox.api import Profile, SandboxUnavailable, Tier
from sandbox.local import open_strongest

uid, gid = os.getuid(), os.getgid()
sc.unshare(sc.CLONE_NEWUSER)
for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
try:
    sandbox = open_strongest(Tier(sys.argv[1]))
except SandboxUnavailable as e:
    print(*(m.name for m in e.missing), bool(e.missing[0].remedy))
else:
    lost = [g.name for g in sandbox.guarantees() if not g.holds]
    print(sandbox.name, "pid_namespace" in lost, "landlock" in lost)
    sandbox.close()
"""


def on_a_refusing_host(require: Tier) -> list[str]:
    trial = subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False)
    if trial.returncode != 0:
        pytest.skip("this host refuses user namespaces already")
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", REFUSING_HOST, require],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return done.stdout.split()


def test_a_host_that_refuses_namespaces_is_named_with_the_remedy() -> None:
    assert on_a_refusing_host(Tier.NAMESPACES) == ["user_namespace", "True"]


def test_a_host_that_refuses_namespaces_gives_the_weaker_tier() -> None:
    if landlock.abi() < 6:
        pytest.skip("this kernel's Landlock does not keep signals inside")
    assert on_a_refusing_host(Tier.RESTRICTED) == ["restricted", "True", "False"]


def test_closing_is_idempotent_and_frees_the_servers() -> None:
    sandbox = LocalSandbox()
    try:
        server = sandbox.zygote(["json"])
    except SandboxUnavailable as e:
        pytest.skip(str(e))
    lifetime = os.pidfd_open(server.pid)
    sandbox.close()
    sandbox.close()
    assert not os.path.exists(f"/proc/{server.pid}")
    os.close(lifetime)


def test_modules_that_start_threads_cannot_be_preloaded(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("modules")
    folder.parent.chmod(0o755)
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    (folder / "starts_a_thread.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    sandbox = LocalSandbox()
    try:
        with pytest.raises(SandboxError, match="1 threads"):
            sandbox.zygote(["starts_a_thread"])
    finally:
        sandbox.close()
