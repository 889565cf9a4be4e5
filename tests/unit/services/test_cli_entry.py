"""Wrong use is 2, our own fault 3, and `--json` is one object whatever happens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.cli import main

LOADED = """
import sys
from services.cli import main
try:
    main(["--help"])
finally:
    heavy = {"torch", "sqlalchemy", "rich", "jinja2", "alembic"} & set(sys.modules)
    sys.exit(f"loaded: {heavy}" if heavy else 0)
"""


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("optimize", "evaluate", "problem", "resume", "report", "doctor", "db"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evaluate"], "Missing argument"),
        (["optimise"], "No such command"),
        (["evaluate", "no.py", "no.py"], "there is no problem at no.py"),
        (["resume", "../../etc/passwd"], "there is no job"),
        (["doctor", "--device", "cuda"], "not available in this version"),
        (["doctor", "--device", "abacus"], "abacus"),
    ],
)
def test_wrong_use(shell: Any, arguments: list[str], says: str) -> None:
    code, result = shell.json(*arguments)
    assert code == 2
    assert says in result["error"]["message"]
    assert says in shell.err


def test_a_bad_problem_file_is_wrong_use(shell: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    code, result = shell.json("problem", "show", path)
    assert code == 2
    assert result["error"]["kind"] == "problem_error"


def test_a_bug_of_ours_is_short_unless_debugging(
    shell: Any, problem_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fast.py"
    path.write_text("# unforeseen\n")
    code, result = shell.json("evaluate", problem_file, path)
    assert code == 3
    assert result["error"]["kind"] == "internal"
    assert "Traceback" not in shell.err
    monkeypatch.setenv("KERNELWRIGHT_DEBUG", "1")
    shell("evaluate", problem_file, path)
    assert "Traceback" in shell.err


def test_doctor_names_what_does_not_hold(shell: Any) -> None:
    code, result = shell.json("doctor")
    assert code == 0
    assert result["ok"] is True
    assert result["guarantees"]["own_uid"]["holds"] is True
    assert result["guarantees"]["memory_limit"]["remedy"] == "mount cgroup v2"
    assert shell("doctor") == 0
    assert "mount cgroup v2" in shell.out


def test_a_host_that_cannot_judge_is_our_fault(shell: Any, guarantee: Any) -> None:
    shell.missing = (guarantee("user_namespace", False, "refused", "set kernel.unprivileged_userns_clone=1"),)
    code, result = shell.json("doctor")
    assert code == 3
    assert result["ok"] is False
    assert result["guarantees"]["user_namespace"]["holds"] is False


def test_db_upgrade(shell: Any) -> None:
    code, result = shell.json("db", "upgrade")
    assert code == 0
    assert result["revision"]
    assert (shell.data / "kernelwright.db").exists()


def test_a_foreign_database_is_not_upgraded_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KERNELWRIGHT_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    monkeypatch.setenv("KERNELWRIGHT_DATA", str(tmp_path / "data"))
    assert main(["report", "abc"]) == 2
    assert "kernelwright db upgrade" in capsys.readouterr().err
    assert main(["db", "upgrade"]) == 0
    assert main(["report", "abc"]) == 2
    assert "there is no job" in capsys.readouterr().err
