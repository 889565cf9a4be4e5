"""Whether the parts of a contract fit together."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.problem import envelope
from evaluator.problem.contract import ContractError
from evaluator.problem.native_schema import read

BASE: dict[str, Any] = {
    "axes": {"rows": {"range": [2, 64], "multiple": 3}, "cols": {"range": [1, 32]}, "heads": 4},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows"], "dtype": "float16"}},
    "workloads": [{"name": "a", "axes": {"rows": 6, "cols": 8}}],
}


def check(**changes: object) -> None:
    """Check BASE with some top-level keys replaced."""
    envelope.check(read(BASE | changes, "test"))


Y = {"shape": ["rows"], "dtype": "float32"}


def x(**keys: object) -> dict[str, object]:
    """Inputs with one tensor `x`."""
    return {"x": {"shape": ["rows", "cols"], "dtype": "float32"} | keys}


def index(low: object, high: object, dtype: str = "int64") -> dict[str, object]:
    """Inputs with one tensor of integers."""
    return x(dtype=dtype, distribution={"kind": "integer", "low": low, "high": high})


def test_a_sound_contract_passes() -> None:
    check()
    check(inputs=index(0, "cols + 1"), mutates=["x"])
    check(inputs=index(-128, 128, "int8"))
    check(inputs=x(dtype="bool", distribution={"kind": "constant", "value": 1}))


@pytest.mark.parametrize(
    ("key", "changes", "hint"),
    [
        ("axes.rows.range", {"axes": {"rows": {"range": [9, 2]}}}, "starts at 9, above its end 2"),
        (
            "axes.rows.multiple",
            {"axes": {"rows": {"range": [9, 15], "multiple": 8}}},
            "no multiple of 8 lies between 9 and 15",
        ),
        ("axes.min", {"axes": {"min": 3}}, "name of a function"),
        ("workloads[0].axes.row", {"workloads": [{"axes": {"row": 6, "cols": 8}}]}, "did you mean 'rows'"),
        ("workloads[0].axes.rows", {"workloads": [{"axes": {"rows": 65, "cols": 8}}]}, r"outside \[2, 64\]"),
        ("workloads[0].axes.rows", {"workloads": [{"axes": {"rows": 7, "cols": 8}}]}, "not a multiple of 3"),
        ("workloads[0].axes", {"workloads": [{"axes": {"rows": 6}}]}, "no size for cols"),
        (
            "workloads[0].axes.heads",
            {"workloads": [{"axes": {"rows": 6, "cols": 8, "heads": 5}}]},
            "the constant 4",
        ),
        (
            "workloads[1].name",
            {"workloads": [{"name": "a", "axes": {"rows": 6, "cols": 8}}] * 2},
            "'a' is taken",
        ),
        ("mutates[0]", {"mutates": ["z"]}, "no input 'z'"),
        ("may_be_constant[0]", {"may_be_constant": ["z"], "outputs": {"y": Y}}, "no output 'z'"),
        ("may_be_constant", {"may_be_constant": ["y"], "outputs": {"y": Y}}, "one must vary"),
        ("inputs.x.layouts", {"inputs": x(shape=["rows"], layouts=["transposed"])}, "at least 2 dimensions"),
        (
            "inputs.x.special_values",
            {"inputs": x(dtype="bool", special_values=["nan"])},
            "bool has none",
        ),
        (
            "inputs.x.distribution",
            {"inputs": x(dtype="int64", distribution={"kind": "zipf", "high": 1 << 25})},
            "has at most 16777216 values",
        ),
        ("inputs.x.shape[1]", {"inputs": x(shape=["rows", "colls"])}, "did you mean 'cols'"),
        ("inputs.x.shape[0]", {"inputs": x(shape=["rows -"])}, "not arithmetic"),
        ("inputs.x.shape[0]", {"inputs": x(shape=["cols - 1"])}, "is 0 at cols = 1; sizes start at 1"),
        ("inputs.x.shape[0]", {"inputs": x(shape=["rows / 2"])}, "write //"),
        ("inputs.x.layout", {"inputs": x(shape=["rows"], layout="transposed")}, "at least 2 dimensions"),
        ("inputs.x.distribution", {"inputs": x(distribution="bernoulli")}, "cannot fill float32; use one of"),
        ("inputs.x.distribution", {"inputs": x(dtype="int32", distribution="normal")}, "integer"),
        ("inputs.x.distribution", {"inputs": x(shape=[], distribution="one_hot")}, "at least one dimension"),
        ("inputs.x.distribution", {"inputs": index(5, 5)}, "must be below"),
        ("inputs.x.distribution", {"inputs": index(1, "cols")}, r"below high \(1\) at cols = 1"),
        ("inputs.x.distribution", {"inputs": index(0, "classes")}, "no axis 'classes'"),
        ("inputs.x.distribution", {"inputs": index(-1, 5, "uint8")}, "uint8 holds 0 to 255"),
        (
            "inputs.x.distribution",
            {"inputs": x(distribution={"kind": "uniform", "low": 1, "high": 0})},
            "must be below",
        ),
        (
            "inputs.x.distribution.value",
            {"inputs": x(dtype="bool", distribution={"kind": "constant", "value": 2})},
            "not a value of bool",
        ),
        (
            "inputs.x.distribution.value",
            {"inputs": x(dtype="int32", distribution={"kind": "constant", "value": 0.5})},
            "not a value of int32",
        ),
        ("init[0]", {"init": ["cols + colls"]}, "no axis 'colls'"),
        ("init[0][0]", {"init": [["cols / 2"]]}, "write //"),
        ("outputs.y.shape[0]", {"outputs": {"y": {"shape": ["n"], "dtype": "float32"}}}, "no axis 'n'"),
        ("workloads[0]", {"inputs": x(shape=["rows", 1 << 40])}, "above memory_bytes"),
    ],
)
def test_what_is_impossible_is_named_with_its_path(key: str, changes: dict[str, object], hint: str) -> None:
    with pytest.raises(ContractError, match=hint) as raised:
        check(**changes)
    assert raised.value.key == key


def test_a_number_cannot_be_mutated() -> None:
    number = {"scalar": True, "dtype": "int64", "distribution": {"kind": "constant", "value": 2}}
    with pytest.raises(ContractError, match="cannot be changed"):
        check(inputs={"n": number}, mutates=["n"])


def test_the_bytes_of_a_workload_count_inputs_and_outputs() -> None:
    contract = read(BASE, "test")
    assert envelope.workload_bytes(contract, contract.workloads[0]) == 6 * 8 * 4 + 6 * 2


@pytest.mark.parametrize(
    ("dtype", "size"), [("float64", 8), ("bfloat16", 2), ("int32", 4), ("uint8", 1), ("bool", 1)]
)
def test_the_bytes_of_an_element(dtype: str, size: int) -> None:
    assert envelope.item_bytes(dtype) == size


def test_outputs_that_may_be_constant_have_to_be_declared() -> None:
    undeclared = {key: value for key, value in BASE.items() if key != "outputs"}
    with pytest.raises(ContractError, match="declare `outputs`"):
        envelope.check(read(undeclared | {"may_be_constant": ["y"]}, "test"))
