"""The native contract language: every key, its type and its default, as a table of readers.

`read` turns raw data (a `CONTRACT` mapping or TOML) into a Contract; `envelope.check` then looks at how its
parts fit together. docs/problems.md lists the same keys in prose.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.problem.contract import (
    BASELINES,
    DTYPES,
    SPECIAL_VALUES,
    Accuracy,
    Axis,
    Contract,
    ContractError,
    Distribution,
    DistributionKind,
    InputSpec,
    Layout,
    OutputSpec,
    Precision,
    Timeouts,
    Workload,
)
from evaluator.problem.expressions import MAX_VALUE
from evaluator.problem.schema import (
    Reader,
    choice,
    describe,
    flag,
    integer,
    join,
    mapping,
    name,
    number,
    sequence,
    table,
    text,
)

MAX_SIZE = 1 << 40
MAX_RANK = 8
SCALAR_DTYPES = ("float64", "int64", "bool")

_LATER_KEYS = {
    "gradients": "backward passes are not judged; submit the forward operation alone",
    "training": "references run in eval mode; submit the inference form",
    "randomness": "operations that draw random numbers are not judged; pass the numbers in as an input",
    "dropout": "operations that draw random numbers are not judged; pass the mask in as an input",
    "determinism": "bitwise repeatability is not judged; leave the key out",
    "targets": "candidates are judged on the device that `device` names; leave the key out",
    "forbidden": "calls cannot be ruled out; leave the key out",
    "required": "calls cannot be demanded; leave the key out",
    "check": "outputs are compared with the reference's; make the answer unique",
    "integration": "candidates are judged on their own, not in a framework; leave the key out",
    "parameters": "weights are frozen; pass what the operation changes as an input named in `mutates`",
}
_LATER_INPUT_KEYS = {
    "requires_grad": "backward passes are not judged",
}
_LATER_OUTPUT_KEYS = {
    "view_of": "outputs that are views of inputs are not judged; return a copy",
    "data_dependent": "output shapes may depend on axes only",
}
_LATER_LAYOUTS = {"broadcast": "inputs with stride 0 are not drawn; declare the unexpanded shape"}
_LATER_KINDS = {
    "with_infinities": "use `normal`, and name what may be among the values in the input's `special_values`",
    "user": "values are drawn by the judge from the declared kinds, or by the file's own `get_inputs`",
}
_LATER_DTYPES = dict.fromkeys(
    ("complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64"),
    "use one of the floats from float16, the integers from int8, or bool",
)
_LATER_PRECISIONS = {
    Precision.TF32_OK.value: "it means something on a GPU only; use 'strict-fp32'",
    Precision.BF16_ACCUMULATE_FP32.value: "it means something on a GPU only; use 'strict-fp32'",
}

_dtype = choice(DTYPES, _LATER_DTYPES)
_layout = choice([e.value for e in Layout], _LATER_LAYOUTS)


def _size(path: str, raw: object) -> int | str:
    """A size: a whole number of at least 1, or an expression (checked against the axes later)."""
    if isinstance(raw, str):
        return text(path, raw).strip()
    return integer(1, MAX_SIZE)(path, raw)


def _bound(path: str, raw: object) -> float | str:
    """A bound of integers: a whole number or an expression over axes."""
    if isinstance(raw, str):
        return text(path, raw).strip()
    return float(integer(-MAX_VALUE, MAX_VALUE)(path, raw))


def _literal(path: str, raw: object) -> object:
    """A constructor argument: None, a number, text, or a list of such."""
    if isinstance(raw, (list, tuple)):
        return sequence(_literal)(path, raw) if path.count("[") < MAX_RANK else _refuse_literal(path, raw)
    if raw is None or isinstance(raw, bool):
        return raw
    if isinstance(raw, str):
        return text(path, raw)
    if isinstance(raw, int):
        return integer(-(1 << 63), (1 << 63) - 1)(path, raw)
    if isinstance(raw, float):
        return number()(path, raw)
    return _refuse_literal(path, raw)


def _refuse_literal(path: str, raw: object) -> object:
    raise ContractError(path, f"must be a number, text, None or a list of such, not {describe(raw)}")


_KINDS: dict[str, Reader[dict[str, object]]] = {
    "normal": table({"kind": text, "mean": number(), "std": number(positive=True)}),
    "uniform": table({"kind": text, "low": number(), "high": number()}),
    "integer": table({"kind": text, "low": _bound, "high": _bound}, required=("high",)),
    "zipf": table(
        {"kind": text, "low": _bound, "high": _bound, "exponent": number(0, 10, positive=True)},
        required=("high",),
    ),
    "one_hot": table({"kind": text}),
    "constant": table({"kind": text, "value": number()}, required=("value",)),
    "bernoulli": table({"kind": text, "p": number(0, 1)}),
}
_kind = choice(_KINDS, _LATER_KINDS)


def _distribution(path: str, raw: object) -> Distribution:
    """A kind by name, or a table with `kind` and that kind's own keys."""
    if isinstance(raw, str):
        raw = {"kind": raw}
    if not isinstance(raw, dict) or "kind" not in raw:
        raise ContractError(path, f"must name a kind ({', '.join(_KINDS)}), not {describe(raw)}")
    kind = _kind(join(path, "kind"), raw["kind"])
    values = {k: v for k, v in _KINDS[kind](path, raw).items() if k != "kind"}
    return Distribution(DistributionKind(kind), **values)  # type: ignore[arg-type]


_input_table = table(
    {
        "shape": sequence(_size, most=MAX_RANK),
        "dtype": _dtype,
        "distribution": _distribution,
        "layout": _layout,
        "layouts": sequence(_layout, least=1, unique=True),
        "scalar": flag,
        "special_values": sequence(choice(SPECIAL_VALUES), least=1, unique=True),
    },
    required=("dtype",),
    later=_LATER_INPUT_KEYS,
)


def _input(path: str, raw: object) -> InputSpec:
    fields = _input_table(path, raw)
    scalar = fields.get("scalar", False)
    if scalar and fields["dtype"] not in SCALAR_DTYPES:
        raise ContractError(join(path, "dtype"), f"a Python number is one of {', '.join(SCALAR_DTYPES)}")
    for key in ("shape", "layout", "layouts", "special_values"):
        if scalar and fields.get(key):
            raise ContractError(join(path, key), "a Python number (`scalar`) has none; leave it out")
    if not scalar and "shape" not in fields:
        raise ContractError(join(path, "shape"), "is missing (for a Python number write `scalar = true`)")
    return InputSpec(
        name=path.rpartition(".")[2],
        shape=fields.get("shape", ()),
        dtype=fields["dtype"],
        distribution=fields.get("distribution") or _default_distribution(path, fields["dtype"]),
        layout=Layout(fields.get("layout", Layout.CONTIGUOUS)),
        scalar=scalar,
        layouts=tuple(map(Layout, fields.get("layouts", ()))),
        special_values=fields.get("special_values", ()),
    )


def _default_distribution(path: str, dtype: str) -> Distribution:
    if dtype == "bool":
        return Distribution(DistributionKind.BERNOULLI)
    if "int" in dtype:
        example = '{"kind": "integer", "low": 0, "high": 10}'
        raise ContractError(join(path, "distribution"), f"is missing; integers need one, such as {example}")
    return Distribution(DistributionKind.NORMAL)


_output_table = table(
    {"shape": sequence(_size, most=MAX_RANK), "dtype": _dtype},
    required=("shape", "dtype"),
    later=_LATER_OUTPUT_KEYS,
)


def _output(path: str, raw: object) -> OutputSpec:
    return OutputSpec(name=path.rpartition(".")[2], **_output_table(path, raw))


_range_table = table(
    {"range": sequence(integer(1, MAX_SIZE), 2, 2), "multiple": integer(1, MAX_SIZE)}, required=("range",)
)


def _axis(path: str, raw: object) -> Axis:
    axis = path.rpartition(".")[2]
    if isinstance(raw, int):
        size = integer(1, MAX_SIZE)(path, raw)
        return Axis(axis, size, size)
    if not isinstance(raw, dict):
        raise ContractError(path, f"must be a size or a table with `range`, not {describe(raw)}")
    fields = _range_table(path, raw)
    low, high = fields["range"]
    return Axis(axis, low, high, fields.get("multiple", 1))


_workload_table = table(
    {"name": text, "axes": mapping(integer(1, MAX_SIZE)), "weight": number(0, 1e6, positive=True)}
)


def _workload(path: str, raw: object) -> Workload:
    fields = _workload_table(path, raw)
    axes = fields.get("axes", {})
    default = ",".join(f"{k}={v}" for k, v in axes.items()) or "default"
    return Workload(fields.get("name", default), axes, fields.get("weight", 1.0))


_seconds = number(0, 86_400, positive=True)
_accuracy = table({"ratio": number(0, 1e6), "ulps": number(0, 1e6), "fallback_rtol": number(0, 1)})
_timeouts = table(dict.fromkeys(("load", "warm_up", "call", "build"), _seconds))

KEYS: Mapping[str, Reader[object]] = {
    "name": text,
    "axes": mapping(_axis),
    "inputs": mapping(_input, least=1),
    "outputs": mapping(_output, least=1),
    "workloads": sequence(_workload, least=1),
    "init": sequence(_literal),
    "mutates": sequence(name, unique=True),
    "may_ignore": sequence(name, unique=True),
    "may_be_constant": sequence(name, unique=True),
    "accuracy": lambda path, raw: Accuracy(**_accuracy(path, raw)),
    "precision": choice([e.value for e in Precision], _LATER_PRECISIONS),
    "mode": choice(["eager"], {"graph": "it means something on a GPU only; use 'eager'"}),
    "baselines": sequence(choice(BASELINES), least=1, unique=True),
    "floor": number(0, 10, positive=True),
    "timeouts": lambda path, raw: Timeouts(**_timeouts(path, raw)),
    "memory_bytes": integer(1 << 20, 1 << 42),
    "device": choice(["cpu"], {"cuda": "only 'cpu' is judged", "auto": "name the device: 'cpu'"}),
    "source_may_leave": flag,
}
_contract = table(KEYS, later=_LATER_KEYS)


def read(raw: object, default_name: str) -> Contract:
    """The Contract that `raw` declares, each value checked on its own. Raises ContractError, NotSupportedYet.

    `inputs` and `init` stay None where the data does not declare them.
    """
    fields = _contract("", raw)
    fields["axes"] = tuple(fields.get("axes", {}).values())
    for key in ("inputs", "outputs"):
        if key in fields:
            fields[key] = tuple(fields[key].values())
    if "precision" in fields:
        fields["precision"] = Precision(fields["precision"])
    ranges = [a.name for a in fields["axes"] if a.low != a.high]
    if "workloads" not in fields and ranges:
        raise ContractError("workloads", f"is missing; give at least one with sizes for {', '.join(ranges)}")
    return Contract(**{"name": default_name, "workloads": (Workload("default", {}),)} | fields)
