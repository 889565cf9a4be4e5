"""The native format: a file with its contract inside or beside it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evaluator.problem import native
from evaluator.problem.contract import Axis, ContractError, NotSupportedYet, Problem, ProblemError

CONTRACT = """CONTRACT = {
    "axes": {"rows": {"range": [1, 64]}, "cols": 8},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
    "workloads": [{"axes": {"rows": 4}}],
}
"""
TOML = """
axes.rows.range = [1, 64]
axes.cols = 8
inputs.x = { shape = ["rows", "cols"], dtype = "float32" }
outputs.y = { shape = ["rows"], dtype = "float32" }
workloads = [{ axes = { rows = 4 } }]
"""
REFERENCE = "SCALE = 3\n\n\ndef reference(x):\n    return x.sum(1) * SCALE\n"
MODEL = "class Model(nn.Module):\n def __init__(self): pass\n def forward(self, x): pass\n"


def parse(source: str, toml: str | None = None, settings: Mapping[str, object] | None = None) -> Problem:
    """A problem called `p`."""
    return native.parse("p", source, toml, settings or {})


def test_the_contract_may_stand_inside_or_beside_the_file() -> None:
    inside, beside = parse(CONTRACT + REFERENCE), parse(REFERENCE, TOML)
    assert inside.contract == beside.contract
    assert inside.contract.name == "p"
    assert inside.reference.source == CONTRACT + REFERENCE
    assert (inside.origin, inside.reference.entry, inside.contract.init) == ("native", "reference", ())


def test_both_is_an_error() -> None:
    with pytest.raises(ProblemError, match="given twice"):
        parse(CONTRACT + REFERENCE, TOML)


def test_an_annotated_contract_is_read_too() -> None:
    annotated = CONTRACT.replace("CONTRACT =", "CONTRACT: dict[str, object] =")
    assert parse(annotated + REFERENCE).contract == parse(CONTRACT + REFERENCE).contract


def test_nothing_of_the_file_is_executed() -> None:
    parse(CONTRACT + "raise SystemExit(3)\n" + REFERENCE)


@pytest.mark.parametrize(
    ("contract", "hint"),
    [
        ("CONTRACT = dict(name='x')\n", "must be a literal"),
        ("N = 3\nCONTRACT = {'axes': {'n': N}}\n", "without names"),
        ("CONTRACT = {'memory_bytes': 8 << 30}\n", "write numbers and texts out"),
        ("CONTRACT: dict\nCONTRACT = {}\nCONTRACT = {}\n", "assigned once"),
        ("def CONTRACT(): pass\n", "assigned once"),
        ("CONTRACT = {}\nCONTRACT['name'] = 'x'\n", "assigned once"),
        ("if 1:\n    CONTRACT = {}\n", "assigned once"),
        ("CONTRACT = {'axes': {'n': 1, 'n': 2}}\n", "'n': is given twice"),
        ("CONTRACT = {[]: 1}\n", "must be a literal"),
        ("CONTRACT = {'name': " + "[" * 150 + "]" * 150 + "}\n", "must be a short text"),
        ("CONTRACT = {'memory_bytes': 0x" + "f" * 9000 + "}\n", "too long to show"),
        ("CONTRACT = ['x']\n", "CONTRACT: must be a table"),
    ],
)
def test_a_contract_that_cannot_be_read_is_refused(contract: str, hint: str) -> None:
    with pytest.raises(ProblemError, match=hint):
        parse(contract + REFERENCE)


@pytest.mark.parametrize("toml", ["axes = ", "a = 1\na = 2", "a = " + "[" * 5000, "n = 1e"])
def test_toml_that_cannot_be_read_is_refused(toml: str) -> None:
    with pytest.raises(ProblemError, match="TOML file is not valid"):
        parse(REFERENCE, toml)


def test_later_keys_and_impossible_shapes_surface_from_a_file() -> None:
    with pytest.raises(NotSupportedYet, match="gradients"):
        parse(REFERENCE, TOML + "gradients = true\n")
    with pytest.raises(ContractError, match=r"inputs\.x\.shape\[0\]"):
        parse(REFERENCE, TOML.replace('"rows", "cols"', '"rows - 1", "cols"'))


def test_inputs_and_init_are_checked_against_the_reference() -> None:
    with pytest.raises(ContractError, match="1 declared, but reference takes 2"):
        parse(CONTRACT + REFERENCE.replace("(x)", "(x, w)"))
    with pytest.raises(ContractError, match=r"0 declared, but Model\.__init__ takes 1"):
        parse(MODEL.replace("(self)", "(self, n)"), TOML)
    assert parse(MODEL.replace("(self)", "(self, n)"), 'init = ["cols"]\n' + TOML).contract.init == ("cols",)


def test_inputs_may_be_drawn_by_the_file() -> None:
    problem = parse(MODEL + "def get_inputs(): return []\n", "floor = 1.0\n")
    assert (problem.contract.inputs, problem.contract.init) == (None, ())
    assert any("get_inputs" in note for note in problem.notes)


@pytest.mark.parametrize(
    ("toml", "hint"),
    [
        ("axes.n = 3\n", "axes and workloads need declared inputs"),
        ('mutates = ["x"]\n', "needs declared inputs"),
    ],
)
def test_what_needs_declared_inputs_says_so(toml: str, hint: str) -> None:
    with pytest.raises(ContractError, match=hint):
        parse(MODEL + "def get_inputs(): return []\n", toml)


def test_missing_inputs_are_an_error() -> None:
    with pytest.raises(ContractError, match="inputs: is missing"):
        parse(REFERENCE, "floor = 1.0\n")
    with pytest.raises(ProblemError, match="callable without arguments"):
        parse(MODEL + "def get_inputs(n): return []\n", "floor = 1.0\n")


def test_settings_change_constant_axes_and_constants_of_the_source() -> None:
    problem = parse(CONTRACT + REFERENCE, settings={"cols": 16, "SCALE": 5})
    assert Axis("cols", 16, 16) in problem.contract.axes
    assert "SCALE = 5" in problem.reference.source
    assert problem.digest != parse(CONTRACT + REFERENCE).digest


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"rows": 3}, "edit the workloads"),
        ({"cols": 0}, "between 1"),
        ({"cols": "many"}, "whole number"),
        ({"col": 3}, "did you mean 'cols'"),
        ({"CONTRACT": 3}, "settable: cols, SCALE"),
    ],
)
def test_settings_that_change_nothing_are_refused(settings: dict[str, object], hint: str) -> None:
    with pytest.raises(ProblemError, match=hint):
        parse(CONTRACT + REFERENCE, settings=settings)


def test_undeclared_outputs_are_noted() -> None:
    problem = parse(REFERENCE, "\n".join(line for line in TOML.splitlines() if "outputs" not in line))
    assert problem.contract.outputs is None
    assert any("outputs" in note for note in problem.notes)


def test_inputs_that_may_be_ignored_are_inputs_and_not_all_of_them() -> None:
    source = "def get_inputs(): return []\ndef reference(x, mask): return x\n"
    parsed = native.parse("p", f'CONTRACT = {{"may_ignore": ["mask"]}}\n{source}', None, {})
    assert parsed.contract.may_ignore == ("mask",)
    for names, hint in ((["masc"], "did you mean 'mask'"), (["x", "mask"], "one must influence")):
        with pytest.raises(ContractError, match=hint):
            native.parse("p", f'CONTRACT = {{"may_ignore": {names}}}\n{source}', None, {})
