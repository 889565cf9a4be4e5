"""Setting module-level constants by surgery on the text."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.problem.constants import parse_settings, set_constants, settable
from evaluator.problem.contract import ProblemError

SOURCE = '''"""Doc with batch = 3."""
import torch

batch = 128  # comment stays
height = width = 64
depth, flag = 4, True
area = height * width
kernel = (
    3,
    5,
)
scale: float = 1e-3
shape = (batch, int(width / 2))
rate = -0.5; other = "é"; after = 2
weights = torch.ones(3)
total = 0
total += 1


def get_inputs():
    batch = 5
    return [torch.rand(batch, height, width)]
'''


def run(source: str) -> dict[str, Any]:
    """The file's names, without its torch lines (our own text above, so safe to execute)."""
    names: dict[str, Any] = {}
    exec(source.replace("import torch", "").replace("weights = torch.ones(3)", ""), names)
    return names


def test_constants_are_listed_in_order_of_appearance() -> None:
    assert settable(SOURCE) == (
        "batch", "height", "width", "depth", "flag", "area", "kernel", "scale", "shape", "rate", "other", "after",
    )  # fmt: skip


def test_set_values_replace_and_computed_values_follow() -> None:
    names = run(set_constants(SOURCE, {"batch": 2, "height": 8, "kernel": (7, 7), "after": 9, "depth": 1}))
    assert (names["batch"], names["height"], names["width"], names["area"]) == (2, 8, 64, 512)
    assert (names["kernel"], names["shape"], names["other"], names["after"]) == ((7, 7), (2, 32), "é", 9)
    assert (names["depth"], names["flag"]) == (1, True)


def test_a_chain_can_be_set_in_whole_or_in_part() -> None:
    assert "width = (64); height = 8" in set_constants(SOURCE, {"height": 8})
    assert "height = 8; width = 9" in set_constants(SOURCE, {"width": 9, "height": 8})


def test_everything_else_stays_as_it_was() -> None:
    assert set_constants(SOURCE, {}) == SOURCE
    changed = set_constants(SOURCE, {"batch": 2})
    assert changed == SOURCE.replace("batch = 128", "batch = 2")


def test_a_computed_constant_can_be_set_too() -> None:
    assert run(set_constants(SOURCE, {"area": 5}))["area"] == 5


def test_an_unknown_name_lists_those_that_can_be_set() -> None:
    with pytest.raises(ProblemError, match=r"did you mean 'batch'.*settable: batch, height, width"):
        set_constants(SOURCE, {"bach": 2})
    for name in ("weights", "total", "get_inputs"):
        with pytest.raises(ProblemError, match="no such constant"):
            set_constants(SOURCE, {name: 2})


def test_a_file_without_constants_says_so() -> None:
    with pytest.raises(ProblemError, match="settable: nothing"):
        set_constants("import torch\n", {"n": 2})


@pytest.mark.parametrize("value", [object(), float("nan"), float("inf"), {1: object()}])
def test_only_literals_can_be_set(value: object) -> None:
    with pytest.raises(ProblemError, match="not a literal"):
        set_constants(SOURCE, {"batch": value})


def test_text_cannot_stand_for_a_number() -> None:
    with pytest.raises(ProblemError, match="stands for a number"):
        set_constants(SOURCE, {"batch": "big"})


def test_settings_are_literals_or_text() -> None:
    texts = ["a=3", "b = (1, 2)", "c=mean", "d=1e-3", "e=x=y", "f=True"]
    assert parse_settings(texts) == {"a": 3, "b": (1, 2), "c": "mean", "d": 1e-3, "e": "x=y", "f": True}


@pytest.mark.parametrize("texts", [["a"], ["=3"], ["2a=3"], ["a.b=3"], ["a=1", "a=2"]])
def test_a_malformed_setting_is_refused(texts: list[str]) -> None:
    with pytest.raises(ProblemError, match=r"not a setting|set twice"):
        parse_settings(texts)
