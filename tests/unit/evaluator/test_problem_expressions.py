"""Sizes as arithmetic over axes."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.problem.expressions import axes_of, evaluate, sizes

AXES = {"rows": 6, "cols": 15}


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (7, 7),
        ("rows", 6),
        ("2*rows", 12),
        ("cols//2", 7),
        ("cols % 4", 3),
        ("(rows + 1) * cols - 5", 100),
        ("-rows + cols", 9),
        ("max(rows, cols, 20)", 20),
        (" min(rows, cols) ", 6),
    ],
)
def test_arithmetic_over_axes(expr: int | str, value: int) -> None:
    assert evaluate(expr, AXES) == value


@pytest.mark.parametrize(
    ("expr", "hint"),
    [
        ("depth", "declared: cols, rows"),
        ("rows/2", "write //"),
        ("rows//0", "division by zero"),
        ("rows % (cols - 15)", "division by zero"),
        ("rows ** 9", r"only \+ - \* // %"),
        ("__import__('os')", "only integers"),
        ("rows.real", "only integers"),
        ("1.5*rows", "only integers"),
        ("True", "only integers"),
        ("rows if 1 else 2", "only integers"),
        ("max()", "only integers"),
        ("rows rows", "not arithmetic"),
        ("", "not arithmetic"),
        ("(" * 100 + "1", "not arithmetic"),
        ("0x1for x in y", "only integers"),
        ("1+" * 200 + "1", "at most 200"),
        ("9999999999*9999999999", "out of range"),
    ],
)
def test_anything_else_is_refused_with_a_hint(expr: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        evaluate(expr, AXES)


def test_a_shape_is_evaluated_as_a_whole() -> None:
    assert sizes(("rows", 3, "cols - 1"), AXES) == (6, 3, 14)


def test_the_axes_of_an_expression_leave_functions_out() -> None:
    assert axes_of("max(rows, 3) * cols") == {"rows", "cols"}
    assert axes_of(4) == frozenset()


@given(st.text(max_size=60))
def test_no_text_does_anything_but_evaluate_or_raise_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert type(evaluate(text, AXES)) is int
