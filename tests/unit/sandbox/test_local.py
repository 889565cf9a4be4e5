"""The namespaces tier where it cannot work, and what it says of itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sandbox.api import SandboxError, SandboxUnavailable
from sandbox.local import LocalSandbox

REFUSING_HOST = """
import os
from sandbox import syscalls as sc
from sandbox.api import Profile, SandboxUnavailable
from sandbox.local import LocalSandbox

uid, gid = os.getuid(), os.getgid()
sc.unshare(sc.CLONE_NEWUSER)
for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
sandbox = LocalSandbox()
try:
    sandbox.zygote(["json"])
except SandboxUnavailable as e:
    print(*(m.name for m in e.missing), bool(e.missing[0].remedy))
finally:
    sandbox.close()
"""


def test_a_host_that_refuses_namespaces_is_named_with_the_remedy() -> None:
    trial = subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False)
    if trial.returncode != 0:
        pytest.skip("this host refuses user namespaces already")
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", REFUSING_HOST],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.split() == ["user_namespace", "True"]


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
