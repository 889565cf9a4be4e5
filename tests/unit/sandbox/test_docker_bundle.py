"""The archive of code that a container begins with."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sandbox.api import SandboxError
from sandbox.docker_bundle import bundle


def names(*preload: str) -> set[str]:
    return set(zipfile.ZipFile(io.BytesIO(bundle(preload))).namelist())


SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import sandbox.docker_inside as server
print(server.__file__)
"""


def test_the_server_comes_with_all_that_it_imports(tmp_path: Path) -> None:
    archive = tmp_path / "code.zip"
    archive.write_bytes(bundle([]))
    command = [sys.executable, "-I", "-c", SERVER, str(archive)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == f"{archive}/sandbox/docker_inside.py", done.stderr


def test_a_module_of_ours_comes_with_those_beside_it_and_nothing_else() -> None:
    found = names("evaluator.harness.runner")
    assert {"evaluator/__init__.py", "evaluator/harness/__init__.py", "evaluator/harness/runner.py"} <= found
    assert "evaluator/harness/wire.py" in found
    assert not any(name.startswith("evaluator/judge") for name in found)


def test_what_a_container_finds_by_itself_stays_out() -> None:
    assert not any(name.startswith(("json", "packaging")) for name in names("json", "packaging.version"))


def test_a_module_that_lies_elsewhere_comes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernelwright_elsewhere.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert "kernelwright_elsewhere.py" in names("kernelwright_elsewhere")


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(SandboxError, match="no_such_module"):
        bundle(["no_such_module"])
