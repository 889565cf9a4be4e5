"""`kernelwright problem check` and `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_valid_problem(shell: Any, problem_file: Path) -> None:
    code, result = shell.json("problem", "check", problem_file)
    assert code == 0
    assert result["ok"] is True
    assert result["findings"] == [{"name": "finite", "passed": True, "detail": ""}]


def test_an_invalid_problem(shell: Any, problem_file: Path) -> None:
    shell.judge.valid = False
    code, result = shell.json("problem", "check", problem_file)
    assert code == 1
    assert result["findings"][0]["detail"] == "the reference returns NaN"
    assert shell("problem", "check", problem_file) == 1
    assert "cannot be judged" in shell.out


def test_show_tells_the_contract(shell: Any, problem_file: Path) -> None:
    code, result = shell.json("problem", "show", problem_file, "--set", "SCALE=2.0")
    assert code == 0
    assert [w["name"] for w in result["contract"]["workloads"]] == ["small", "large"]
    assert "SCALE = 2.0" in result["reference"]["source"]
    assert shell("problem", "show", problem_file) == 0
    for words in ("softmax", "rows", "2048", "float32", "strict-fp32"):
        assert words in shell.out


def test_a_setting_without_a_value_is_wrong_use(shell: Any, problem_file: Path) -> None:
    assert shell("problem", "show", problem_file, "--set", "SCALE") == 2
    assert "NAME=VALUE" in shell.err


def test_show_tells_in_which_other_ways_an_input_may_come(shell: Any) -> None:
    example = Path(__file__).parents[3] / "examples" / "masked_softmax.py"
    assert shell("problem", "show", example) == 0
    assert "sliced" in shell.out
    assert "-inf" in shell.out
