"""Problems and contracts from the JSON that `canonical.plain` makes of them.

`problem_from_json(problem_to_json(p))` has the digest of `p`. Anything that is not such a record raises
ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.canonical import plain
from evaluator.problem.contract import (
    Accuracy,
    Axis,
    Contract,
    Distribution,
    DistributionKind,
    InputSpec,
    Layout,
    OutputSpec,
    Precision,
    Problem,
    Reference,
    ReferenceStyle,
    Timeouts,
    Workload,
)


def contract_to_json(contract: Contract) -> dict[str, object]:
    """The contract as a JSON object."""
    data = plain(contract)
    assert isinstance(data, dict)
    return data


def contract_from_json(data: Mapping[str, object]) -> Contract:
    """The contract that `contract_to_json` wrote. Raises ValueError on anything else."""
    try:
        return _contract(dict(data))
    except (KeyError, TypeError, AttributeError) as e:
        raise ValueError(f"not a stored contract: {e!r}") from e


def problem_to_json(problem: Problem) -> dict[str, object]:
    """The problem as a JSON object, with origin and notes."""
    data = plain(problem)
    assert isinstance(data, dict)
    return data


def problem_from_json(data: Mapping[str, Any]) -> Problem:
    """The problem that `problem_to_json` wrote. Raises ValueError on anything else."""
    try:
        raw = data["reference"]
        reference = Reference(raw["source"], raw["entry"], ReferenceStyle(raw["style"]))
        notes = tuple(str(n) for n in data["notes"])
        return Problem(contract_from_json(data["contract"]), reference, str(data["origin"]), notes)
    except (KeyError, TypeError, AttributeError) as e:
        raise ValueError(f"not a stored problem: {e!r}") from e


def _contract(raw: dict[str, Any]) -> Contract:
    return Contract(
        **raw
        | {
            "workloads": tuple(Workload(**w) for w in raw["workloads"]),
            "axes": tuple(Axis(**a) for a in raw["axes"]),
            "inputs": None if raw["inputs"] is None else tuple(_input(i) for i in raw["inputs"]),
            "outputs": None if raw["outputs"] is None else tuple(_output(o) for o in raw["outputs"]),
            "init": _frozen(raw["init"]),
            "mutates": tuple(raw["mutates"]),
            "may_ignore": tuple(raw["may_ignore"]),
            "may_be_constant": tuple(raw["may_be_constant"]),
            "accuracy": Accuracy(**raw["accuracy"]),
            "precision": Precision(raw["precision"]),
            "baselines": tuple(raw["baselines"]),
            "timeouts": Timeouts(**raw["timeouts"]),
        }
    )


def _input(raw: dict[str, Any]) -> InputSpec:
    distribution = raw["distribution"]
    kind = DistributionKind(distribution["kind"])
    return InputSpec(
        **raw
        | {
            "shape": tuple(raw["shape"]),
            "distribution": Distribution(**distribution | {"kind": kind}),
            "layout": Layout(raw["layout"]),
            "layouts": tuple(map(Layout, raw["layouts"])),
            "special_values": tuple(raw["special_values"]),
        }
    )


def _output(raw: dict[str, Any]) -> OutputSpec:
    return OutputSpec(**raw | {"shape": tuple(raw["shape"])})


def _frozen(value: Any) -> Any:
    """JSON lists as tuples, all the way down."""
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
