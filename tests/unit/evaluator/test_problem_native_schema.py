"""The keys of the native contract language, each on its own."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.problem.contract import (
    Accuracy,
    Axis,
    Contract,
    ContractError,
    Distribution,
    DistributionKind,
    InputSpec,
    Layout,
    NotSupportedYet,
    OutputSpec,
    Timeouts,
    Workload,
)
from evaluator.problem.native_schema import read

X = {"shape": ["rows", "2*cols"], "dtype": "float32"}
FULL: dict[str, Any] = {
    "name": "all of it",
    "axes": {"rows": {"range": [1, 64], "multiple": 4}, "cols": 8},
    "inputs": {
        "x": X
        | {
            "layout": "transposed",
            "layouts": ["contiguous", "offset"],
            "distribution": {"kind": "normal", "mean": 1, "std": 2},
        },
        "index": {
            "shape": [3],
            "dtype": "int64",
            "distribution": {"kind": "integer", "low": 0, "high": "cols"},
        },
        "mask": {"shape": [], "dtype": "bool"},
        "bias": {"shape": [3], "dtype": "float32", "special_values": ["-inf"]},
        "eps": {"scalar": True, "dtype": "float64", "distribution": {"kind": "constant", "value": 1e-5}},
    },
    "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
    "workloads": [{"name": "a", "axes": {"rows": 8}, "weight": 2}, {"axes": {"rows": 12}}],
    "init": ["cols", "mean", [1, "2*rows"], None, True, 0.5],
    "mutates": ["x"],
    "accuracy": {"ratio": 2},
    "precision": "strict-fp32",
    "mode": "eager",
    "baselines": ["torch_eager"],
    "floor": 1,
    "timeouts": {"call": 3},
    "memory_bytes": 1 << 30,
    "device": "cpu",
    "source_may_leave": True,
}


def test_every_key_reaches_the_contract() -> None:
    contract = read(FULL, "file")
    normal = Distribution(DistributionKind.NORMAL, mean=1.0, std=2.0)
    assert contract.name == "all of it"
    assert contract.axes == (Axis("rows", 1, 64, 4), Axis("cols", 8, 8))
    assert contract.inputs == (
        InputSpec(
            "x",
            ("rows", "2*cols"),
            "float32",
            normal,
            Layout.TRANSPOSED,
            layouts=(Layout.CONTIGUOUS, Layout.OFFSET),
        ),
        InputSpec("index", (3,), "int64", Distribution(DistributionKind.INTEGER, low=0.0, high="cols")),
        InputSpec("mask", (), "bool", Distribution(DistributionKind.BERNOULLI)),
        InputSpec("bias", (3,), "float32", Distribution(DistributionKind.NORMAL), special_values=("-inf",)),
        InputSpec("eps", (), "float64", Distribution(DistributionKind.CONSTANT, value=1e-5), scalar=True),
    )
    assert contract.outputs == (OutputSpec("y", ("rows",), "float32"),)
    assert contract.workloads == (Workload("a", {"rows": 8}, 2.0), Workload("rows=12", {"rows": 12}, 1.0))
    assert contract.accuracy == Accuracy(ratio=2.0)
    assert contract.timeouts == Timeouts(call=3.0)
    assert (contract.mutates, contract.baselines, contract.floor) == (("x",), ("torch_eager",), 1.0)
    assert (contract.memory_bytes, contract.source_may_leave) == (1 << 30, True)


def test_what_is_absent_takes_the_contracts_defaults() -> None:
    contract = read({"inputs": {"x": {"shape": [2], "dtype": "float32"}}}, "file")
    assert contract == Contract(
        "file",
        (Workload("default", {}),),
        inputs=(InputSpec("x", (2,), "float32", Distribution(DistributionKind.NORMAL)),),
    )


def test_toml_and_python_spellings_of_a_number_name_the_same_problem() -> None:
    weights = [{"workloads": [{"weight": w}]} for w in (2, 2.0)]
    assert read(weights[0], "n") == read(weights[1], "n")
    assert repr(read(weights[0], "n")) == repr(read(weights[1], "n"))


def test_constructor_arguments_are_kept_as_they_are_written() -> None:
    assert read(FULL, "file").init == ("cols", "mean", (1, "2*rows"), None, True, 0.5)


def changed(path: str, value: object) -> dict[str, Any]:
    """FULL with the value at a dotted path replaced."""
    first, *rest = path.split(".")

    def put(data: Any, keys: list[str]) -> Any:
        return data | {keys[0]: put(data.get(keys[0], {}), keys[1:]) if keys[1:] else value}

    return FULL | {first: put(FULL, [first, *rest])[first]}


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("inputs.x.dtype", "float33", "did you mean 'float32'"),
        ("inputs.x.dtyp", "float32", "did you mean 'dtype'"),
        ("inputs.x.shape", "rows", "must be a list"),
        ("inputs.x.shape", ["rows", 0], "between 1"),
        ("inputs.x.shape", [-3], "between 1"),
        ("inputs.x.shape", [2.5], "whole number"),
        ("inputs.x.shape", [1] * 9, "0 to 8 items"),
        ("inputs.x.layout", "fortran", "known: contiguous"),
        ("inputs.x.layouts", ["sliced", "sliced"], "given twice"),
        ("inputs.x.distribution", {"mean": 1}, "must name a kind"),
        ("inputs.x.distribution", "gauss", "known: bernoulli"),
        ("inputs.x.distribution.kind", "normall", "did you mean 'normal'"),
        ("inputs.x.distribution.low", 3, "known: kind, mean, std"),
        ("inputs.x.distribution.std", 0, "above 0"),
        ("inputs.eps.shape", [1], "leave it out"),
        ("inputs.x.special_values", ["infinity"], "known: -inf, inf, nan"),
        ("inputs.eps.special_values", ["nan"], "leave it out"),
        ("inputs.eps.dtype", "float32", "float64, int64, bool"),
        ("inputs.n", {"shape": [1], "dtype": "int32"}, "integers need one"),
        ("inputs.n", {"dtype": "float32"}, "scalar = true"),
        ("inputs.n", 3, "must be a table"),
        ("inputs", {}, "1 to 64 entries"),
        ("axes.rows.range", [1], "2 to 2 items"),
        ("axes.rows.range", [0, 4], "between 1"),
        ("axes.rows", "big", "table with `range`"),
        ("axes.cols", True, "whole number"),
        ("axes.cols", -1, "between 1"),
        ("workloads", [], "1 to 64 items"),
        ("workloads", [{"weight": 0}], "above 0"),
        ("workloads", [{"axes": {"rows": 8.0}}], "whole number"),
        ("workloads", [{"axis": {}}], "did you mean 'axes'"),
        ("init", [{"a": 1}], "must be a number, text"),
        ("init", [b"x"], "must be a number, text"),
        ("accuracy.rtol", 1e-3, "unknown key"),
        ("accuracy.ratio", -1, "at least 0"),
        ("timeouts.call", 0, "above 0"),
        ("timeouts.calls", 1, "did you mean 'call'"),
        ("baselines", ["torch_eagr"], "did you mean 'torch_eager'"),
        ("baselines", ["torch_eager", "torch_eager"], "given twice"),
        ("memory_bytes", "8GB", "whole number"),
        ("precision", "fp32", "strict-fp32"),
        ("source_may_leave", "yes", "true or false"),
        ("nmae", "x", "did you mean 'name'"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_path(path: str, value: object, hint: str) -> None:
    with pytest.raises(ContractError, match=hint) as raised:
        read(changed(path, value), "file")
    assert raised.value.key.startswith(path.split(".")[0])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *(
            (key, True)
            for key in ("gradients", "training", "randomness", "dropout", "determinism", "targets")
        ),
        *((key, True) for key in ("forbidden", "required", "check", "integration", "parameters")),
        ("inputs.x.layout", "broadcast"),
        ("inputs.x.layouts", ["broadcast"]),
        ("inputs.x.dtype", "complex64"),
        ("inputs.x.distribution", "user"),
        ("inputs.x.distribution.kind", "with_infinities"),
        ("outputs.y.view_of", "x"),
        ("outputs.y.data_dependent", True),
        ("precision", "tf32-ok"),
        ("mode", "graph"),
        ("device", "cuda"),
    ],
)
def test_what_comes_later_is_told_apart_from_what_is_unknown(path: str, value: object) -> None:
    with pytest.raises(NotSupportedYet, match=r"not supported yet: .+") as raised:
        read(changed(path, value), "file")
    assert str(raised.value).startswith(path.split(".")[0])


def test_ranges_without_a_workload_ask_for_one() -> None:
    with pytest.raises(ContractError, match="at least one with sizes for rows"):
        read({k: v for k, v in FULL.items() if k != "workloads"}, "file")


@pytest.mark.parametrize("raw", [None, [], "x", 3])
def test_a_contract_is_a_table(raw: object) -> None:
    with pytest.raises(ContractError, match="CONTRACT: must be a table"):
        read(raw, "file")
