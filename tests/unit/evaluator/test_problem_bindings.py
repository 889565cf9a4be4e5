"""What a file binds at its top level."""

from __future__ import annotations

import ast

import pytest

from evaluator.problem.bindings import bound, is_dynamic, method, parameters

SOURCE = """
import os.path
from a import b as c
try:
    import triton
except ImportError:
    triton = None
if os:
    def f(): hidden = 1
else:
    class G: inner = 2
match c:
    case 1:
        deep = 1
x = y = 1
(p, [q]) = z
w: int = 3
declared: int
"""


def test_names_are_found_below_conditions_but_not_inside_functions() -> None:
    names = set(bound(ast.parse(SOURCE)))
    assert names == {"os", "c", "triton", "f", "G", "deep", "x", "y", "p", "q", "w"}


def test_a_long_chain_of_conditions_does_not_exhaust_the_stack() -> None:
    source = "if a:\n x = 1\n" + "elif a:\n x = 1\n" * 90 + "else:\n last = 1\n"
    assert "last" in bound(ast.parse(source))


@pytest.mark.parametrize(
    ("signature", "accepted"),
    [
        ("a, b", {2}),
        ("a, b=1", {1, 2}),
        ("a, /, b=1, *rest", {1, 2, 3, 4}),
        ("*all", {0, 1, 2, 3, 4}),
        ("a, *, k=1", {1}),
        ("a, *, k", set()),
    ],
)
def test_how_many_positional_arguments_a_signature_takes(signature: str, accepted: set[int]) -> None:
    function = ast.parse(f"def f({signature}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert {n for n in range(5) if parameters(function).takes(n)} == accepted


def test_methods_are_found_in_bases_of_the_same_file_even_when_these_go_in_circles() -> None:
    tree = ast.parse(
        "class A:\n def forward(self): pass\nclass B(A): pass\nclass C(D): pass\nclass D(C): pass\n"
    )
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    assert method(tree, classes["B"], "forward") is not None
    assert method(tree, classes["C"], "forward") is None


@pytest.mark.parametrize(
    ("source", "dynamic"),
    [("from helpers import *", True), ("exec('x = 1')", True), ("model.eval()", False), ("x = 1", False)],
)
def test_dynamic_binding_is_recognised(source: str, dynamic: bool) -> None:
    assert is_dynamic(ast.parse(source)) is dynamic
