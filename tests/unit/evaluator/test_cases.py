"""Hidden points lie in the envelope, honour multiples, and cost no more than the declared ones."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.arena import TensorSpec
from evaluator.judge.cases import Case, drawn_specs, hidden, input_specs, visible
from evaluator.problem.contract import Contract, Layout
from evaluator.problem.envelope import workload_bytes
from evaluator.problem.native_schema import read

BASE: dict[str, Any] = {
    "axes": {"rows": {"range": [1, 4096]}, "cols": {"range": [8, 8192], "multiple": 8}, "heads": 4},
    "inputs": {"x": {"shape": ["rows", "cols*heads"], "dtype": "float32"}},
    "workloads": [
        {"name": "tall", "axes": {"rows": 4096, "cols": 64}, "weight": 3},
        {"name": "wide", "axes": {"rows": 16, "cols": 8192}},
    ],
}


def contract(**changes: object) -> Contract:
    return read(BASE | changes, "test")


def chosen(of: Contract, seed: int, count: int = 6) -> tuple[Case, ...]:
    return hidden(of, random.Random(seed), count)


def test_visible_points_are_the_workloads_with_every_axis() -> None:
    tall, wide = visible(contract())
    assert (tall.name, tall.weight, dict(tall.axes)) == ("tall", 3, {"heads": 4, "rows": 4096, "cols": 64})
    assert wide.weight == 1


@given(st.integers(0, 1 << 32))
def test_hidden_points_lie_in_the_envelope(seed: int) -> None:
    of = contract()
    points = chosen(of, seed)
    assert len(points) == 6
    for point in points:
        rows, cols = point.axes["rows"], point.axes["cols"]
        assert 1 <= rows <= 4096
        assert 8 <= cols <= 8192
        assert cols % 8 == 0
        assert point.axes["heads"] == 4
        assert rows * cols <= max(4096 * 64, 16 * 8192)
        assert point.weight == 0
    declared = [dict(c.axes) for c in visible(of)]
    assert all(dict(p.axes) not in declared for p in points)
    assert len({p.name for p in points}) == 6


def test_the_smallest_point_is_among_them_and_odd_sizes_too() -> None:
    points = chosen(contract(), 3)
    assert dict(points[0].axes) == {"rows": 1, "cols": 8, "heads": 4}
    assert any(p.axes["rows"] % 2 for p in points[1:])


@given(st.integers(0, 1 << 32))
def test_a_product_that_only_undeclared_outputs_have_is_bounded_too(seed: int) -> None:
    outer = contract(
        axes={"n": {"range": [1, 8192]}, "m": {"range": [1, 8192]}},
        inputs={"a": {"shape": ["n"], "dtype": "float32"}, "b": {"shape": ["m"], "dtype": "float32"}},
        workloads=[
            {"name": "tall", "axes": {"n": 8192, "m": 16}},
            {"name": "wide", "axes": {"n": 16, "m": 8192}},
        ],
    )
    most = max(math.prod(w.axes.values()) for w in outer.workloads)
    limit = max(workload_bytes(outer, w) for w in outer.workloads)
    for point in chosen(outer, seed):
        assert math.prod(point.axes.values()) <= most
        assert 4 * sum(point.axes.values()) <= limit


def test_the_same_secret_gives_the_same_points_and_another_others() -> None:
    assert chosen(contract(), 7) == chosen(contract(), 7)
    assert chosen(contract(), 7) != chosen(contract(), 8)


@given(st.integers(0, 1 << 32))
def test_a_size_at_or_beside_a_power_of_two_is_among_them(seed: int) -> None:
    axes = {"rows": {"range": [1, 4096]}, "cols": 8, "heads": 4}
    points = chosen(contract(axes=axes, workloads=[{"axes": {"rows": 4000}}]), seed, 3)
    assert points[2].axes["rows"] in {(1 << k) + d for k in range(2, 13) for d in (-1, 0, 1)}


def test_where_nothing_can_vary_there_are_no_hidden_points() -> None:
    fixed = contract(axes={"rows": 4, "cols": 8, "heads": 4}, workloads=[{"name": "only", "axes": {}}])
    assert chosen(fixed, 1) == ()
    tiny = contract(
        axes={"rows": {"range": [1, 2]}, "cols": 8, "heads": 4},
        workloads=[{"name": "a", "axes": {"rows": 1}}, {"name": "b", "axes": {"rows": 2}}],
    )
    assert chosen(tiny, 1) == ()


def test_constructor_arguments_become_a_literal_with_axes_in_it_worked_out() -> None:
    module = contract(init=["cols*heads", "gelu", 1e-5, ["rows", 2], True, None])
    tall, wide = visible(module)
    assert tall.init == "[256, 'gelu', 1e-05, (4096, 2), True, None]"
    assert tall.key == tall.init != wide.key


def test_points_with_equal_constructor_arguments_share_an_instance() -> None:
    tall, wide = visible(contract(init=["heads"]))
    assert tall.key == wide.key == "[4]"


def test_inputs_lie_as_they_are_declared() -> None:
    of = contract(
        inputs={
            "x": {"shape": ["rows", "heads"], "dtype": "float16", "layout": "transposed"},
            "scale": {"scalar": True, "dtype": "float64"},
        }
    )
    assert input_specs(of, visible(of)[1]) == (TensorSpec((16, 4), (1, 16), "float16"), None)


def test_every_declared_layout_is_among_the_hidden_points() -> None:
    of = contract(
        inputs={
            "x": {"shape": ["rows", "heads"], "dtype": "float32", "layouts": ["transposed", "offset"]},
            "y": {"shape": ["rows"], "dtype": "float32", "layouts": ["sliced"]},
            "z": {"shape": ["rows"], "dtype": "float32"},
        }
    )
    points = chosen(of, 1, 3)
    relaid = points[3:]
    assert [p.layouts for p in relaid] == [
        (Layout.TRANSPOSED, Layout.SLICED, Layout.CONTIGUOUS),
        (Layout.OFFSET, Layout.SLICED, Layout.CONTIGUOUS),
    ]
    assert {p.key for p in relaid} <= {c.key for c in visible(of)}
    assert len({p.name for p in (*points, *visible(of))}) == 7
    first, second, third = input_specs(of, relaid[1])
    rows = relaid[1].axes["rows"]
    assert first == TensorSpec((rows, 4), (4, 1), "float32", start=1)
    assert second == third == TensorSpec((rows,), (1,), "float32")


def test_layouts_are_tried_where_nothing_else_can_vary() -> None:
    x = {"shape": ["rows", "cols"], "dtype": "float32", "layouts": ["transposed"]}
    axes = {"rows": 4, "cols": 8, "heads": 4}
    fixed = contract(axes=axes, inputs={"x": x}, workloads=[{"name": "only", "axes": {}}])
    assert [p.layouts for p in chosen(fixed, 1)] == [(Layout.TRANSPOSED,)]


@pytest.mark.parametrize("shape", [(2, 3), (), (5,)])
def test_inputs_that_the_file_draws_lie_contiguous(shape: tuple[int, ...]) -> None:
    spec, number = drawn_specs([(shape, "int64"), None])
    assert number is None
    assert spec is not None
    assert spec.span == 8 * math.prod(shape)
