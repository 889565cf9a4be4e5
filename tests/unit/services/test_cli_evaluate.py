"""`kernelwright evaluate`: the verdict as exit code, table and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def candidate(tmp_path: Path, first: str) -> Path:
    path = tmp_path / "fast.py"
    path.write_text(f"# {first}\ndef run(x):\n    return x\n")
    return path


def test_accepted(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    code, result = shell.json("evaluate", problem_file, candidate(tmp_path, 'accepted {"speedup": 1.5}'))
    assert code == 0
    assert result["verdict"] == "accepted"
    assert result["speedup"]["value"] == 1.5
    assert result["speedup"]["low"] < 1.5 < result["speedup"]["high"]
    assert result["baseline"] == "torch_compile"
    assert result["promotable"] is True
    assert result["gates"]["parse"] == "passed"
    assert result["gates"]["profile"] == "not_run"
    assert len(result["gates"]) == 15
    assert result["guarantees"] == {"own_uid": True, "landlock": False}
    assert result["evaluation"]["verdict"] == "accepted"


def test_rejected(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    path = candidate(tmp_path, 'incorrect {"reason": "off by 0.1"}')
    code, result = shell.json("evaluate", problem_file, path, "--policy", "screen")
    assert code == 1
    assert (result["verdict"], result["reason"], result["speedup"]) == ("incorrect", "off by 0.1", None)


def test_a_person_sees_verdict_gates_and_times(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    assert shell("evaluate", problem_file, candidate(tmp_path, 'accepted {"speedup": 1.5}')) == 0
    for words in ("accepted", "numerics", "large", "torch_eager", "1.500×"):
        assert words in shell.out
    assert "warming up" in shell.err


def test_a_reason_cannot_steer_the_terminal(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    path = candidate(tmp_path, r'incorrect {"reason": "\u001b[2Jgone\u0007 [bold]loud[/bold]"}')
    assert shell("evaluate", problem_file, path) == 1
    assert "\x1b" not in shell.out
    assert "gone [bold]loud[/bold]" in shell.out


@pytest.mark.parametrize("content", [b"\x00\xff\xfe", b"x" * (2 << 20)])
def test_no_candidate_at_all_is_a_verdict(
    shell: Any, problem_file: Path, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "fast.cpp"
    path.write_bytes(content)
    code, result = shell.json("evaluate", problem_file, path)
    assert code == 1
    assert result["gates"]["parse"] == "failed"
    assert result["reason"]


def test_infrastructure_is_our_fault(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    code, result = shell.json("evaluate", problem_file, candidate(tmp_path, "infra"))
    assert code == 3
    assert result["error"] == {"kind": "infra_error", "message": "the disk is full"}
    assert result["verdict"] == "infra_error"
    assert set(result["gates"].values()) == {"not_run"}
    assert result["speedup"] is None
