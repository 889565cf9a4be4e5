"""What a judge says of its machine, and when cached times of baselines may be used."""

from __future__ import annotations

import json

import pytest
import torch

from evaluator.judge.session import _seconds, machine


def test_the_machine_is_described_in_plain_data():
    found = machine()
    assert found["torch"] == torch.__version__
    assert {"cpu", "isa", "architecture", "kernel", "python"} <= set(found)
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("entry", "usable"),
    [
        ({"fastest": {"torch_eager": {"a": 1.0}}}, True),
        ({"fastest": {"torch_eager": {"a": 1.0}, "torch_compile": {"a": 1.0}}}, False),
        ({"fastest": {"torch_eager": {"a": 1.0, "b": 1.0}}}, False),
        ({"fastest": {"torch_eager": {}}}, False),
        ({"fastest": {}}, False),
        ({"fastest": None}, False),
        ({}, False),
    ],
)
def test_cached_times_count_only_where_they_cover_everything(local, make_problem, entry, usable):
    bench = local.bench(make_problem("def reference(x):\n    return x + 1\n"))
    assert (_seconds(entry, bench) is not None) == usable


def test_cached_times_may_leave_out_a_baseline_that_is_the_same_code(local, make_problem):
    names = ["torch_eager", "torch_compile_max"]
    bench = local.bench(make_problem("def reference(x):\n    return x + 1\n", baselines=names))
    assert _seconds({"fastest": {"torch_eager": {"a": 1.0}}}, bench) is not None
    assert _seconds({"fastest": {"torch_compile_max": {"a": 1.0}}}, bench) is None
