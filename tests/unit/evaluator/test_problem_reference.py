"""Finding the reference by syntax."""

from __future__ import annotations

import ast

import pytest

from evaluator.problem import reference
from evaluator.problem.contract import (
    ContractError,
    Distribution,
    DistributionKind,
    InputSpec,
    ProblemError,
    ReferenceStyle,
)
from evaluator.problem.load import parse_problem

MODEL = "class Model(nn.Module):\n def __init__(self, n, eps=1e-5): pass\n def forward(self, x, w): pass\n"


def spec(*names: str) -> list[InputSpec]:
    """Inputs of these names."""
    return [InputSpec(n, (2,), "float32", Distribution(DistributionKind.NORMAL)) for n in names]


@pytest.mark.parametrize(
    ("source", "style"),
    [
        ("def reference(x): pass\n", ReferenceStyle.FUNCTIONAL),
        (MODEL, ReferenceStyle.MODULE),
        (
            "class Base(nn.Module):\n def forward(self, x): pass\nclass Model(Base): pass\n",
            ReferenceStyle.MODULE,
        ),
        ("from zoo import Base\nclass Model(Base): pass\n", ReferenceStyle.MODULE),
        ("import zoo\nclass Model(zoo.Base): pass\n", ReferenceStyle.MODULE),
    ],
)
def test_a_function_or_a_module_is_found(source: str, style: ReferenceStyle) -> None:
    assert reference.find(ast.parse(source), source).style is style


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("x = 1\n", "no reference"),
        ("def reference(x): pass\n" + MODEL, "keep the one"),
        ("async def reference(x): pass\n", "is async"),
        ("class Model(nn.Module): pass\n", "no `forward`"),
    ],
)
def test_a_file_without_one_reference_is_refused(source: str, hint: str) -> None:
    with pytest.raises(ProblemError, match=hint):
        reference.find(ast.parse(source), source)


def test_inputs_are_the_parameters_in_their_order() -> None:
    for source, entry in (("def reference(x, w): pass", "reference"), (MODEL, "Model")):
        tree = ast.parse(source)
        reference.check_inputs(tree, entry, spec("x", "w"))
        with pytest.raises(ContractError, match="has the parameter 'x'"):
            reference.check_inputs(tree, entry, spec("w", "x"))
        with pytest.raises(ContractError, match=r"1 declared, but .* takes 2 \(x, w\)"):
            reference.check_inputs(tree, entry, spec("x"))


@pytest.mark.parametrize("signature", ["*args", "x, *rest", "x, y=0, z=0"])
def test_signatures_that_take_the_inputs_in_other_ways_are_accepted(signature: str) -> None:
    reference.check_inputs(ast.parse(f"def reference({signature}): pass"), "reference", spec("x", "y"))


def test_keyword_only_parameters_are_refused() -> None:
    with pytest.raises(ContractError, match="make them positional"):
        reference.check_inputs(ast.parse("def reference(x, *, w): pass"), "reference", spec("x"))


def test_constructor_arguments_are_counted() -> None:
    tree = ast.parse(MODEL)
    reference.check_init(tree, "Model", [3])
    reference.check_init(tree, "Model", [3, 1e-5])
    with pytest.raises(ContractError, match="takes 1 to 2"):
        reference.check_init(tree, "Model", [])
    with pytest.raises(ContractError, match="the reference is a function"):
        reference.check_init(ast.parse("def reference(x): pass"), "reference", [1])


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("CONTRACT = {}\ndef get_inputs(): return []\ndef reference(x, *rest): pass\n", ("x",)),
        (
            "CONTRACT = {}\ndef get_inputs(): return []\nclass Model(nn.Module):\n def forward(self, a, b): pass\n",
            ("a", "b"),
        ),
        ("CONTRACT = {}\ndef get_inputs(): return []\nreference = something\n", ()),
        (
            'CONTRACT = {"inputs": {"y": {"shape": [2], "dtype": "float32"}}}\ndef reference(y, z=0): pass\n',
            ("y",),
        ),
    ],
)
def test_arguments_are_called_as_they_are_declared_or_as_the_parameters(
    source: str, names: tuple[str, ...]
) -> None:
    assert reference.argument_names(parse_problem("p", source)) == names
