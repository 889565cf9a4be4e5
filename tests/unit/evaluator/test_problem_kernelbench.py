"""KernelBench files as they are."""

from __future__ import annotations

import pytest

from evaluator.problem import kernelbench
from evaluator.problem.contract import ProblemError, ReferenceStyle

SOURCE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return self.linear(x)


rows = features = 32


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return [features]
"""


def test_a_file_becomes_a_problem_that_draws_its_own_inputs() -> None:
    problem = kernelbench.parse("7_Linear", SOURCE, {})
    contract = problem.contract
    assert (contract.name, contract.inputs, contract.init, contract.axes) == ("7_Linear", None, None, ())
    assert [w.name for w in contract.workloads] == ["default"]
    assert (problem.origin, problem.reference.style) == ("kernelbench", ReferenceStyle.MODULE)
    assert problem.reference.source == SOURCE


def test_the_defaults_taken_are_stated() -> None:
    notes = " ".join(kernelbench.parse("p", SOURCE, {}).notes)
    for word in ("get_inputs", "'default'", "ulp", "strict-fp32", "torch_compile", "0.98"):
        assert word in notes


def test_settings_change_the_source_and_the_digest_but_notes_do_not() -> None:
    plain, small = (kernelbench.parse("p", SOURCE, s) for s in ({}, {"rows": 4}))
    assert "features = (32); rows = 4" in small.reference.source
    assert plain.digest != small.digest


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("class Model(", "class Modell(", "no `class Model"),
        ("def get_inputs", "def inputs", "`get_inputs` is missing; add: def get_inputs"),
        ("def get_init_inputs", "def init_inputs", "`get_init_inputs` is missing"),
        ("def get_inputs()", "def get_inputs(n)", "callable without arguments"),
        ("def get_inputs()", "async def get_inputs()", "is async"),
        ("def forward", "def forwards", "no `forward` method"),
    ],
)
def test_what_is_missing_is_named(old: str, new: str, hint: str) -> None:
    with pytest.raises(ProblemError, match=hint):
        kernelbench.parse("p", SOURCE.replace(old, new), {})


def test_an_unknown_setting_lists_those_there_are() -> None:
    with pytest.raises(ProblemError, match="settable: rows, features"):
        kernelbench.parse("p", SOURCE, {"row": 3})
