"""The contract: the declared envelope of a problem. Frozen, validated, content-hashed.

Errors:

    ProblemError                 the file or contract cannot be used; the text says what to change
    ├── ContractError            a key, value or shape of the contract; `.key` names it
    └── NotSupportedYet          a key or value that is known but not supported by this version
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluator.canonical import digest


class ProblemError(Exception):
    """The problem cannot be used as it stands; the text says what to change."""


class ContractError(ProblemError):
    """A key or value of the contract is wrong."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key


class NotSupportedYet(ProblemError):
    """Known to the contract language, not supported by this version."""


FLOAT_DTYPES = frozenset({"float64", "float32", "float16", "bfloat16"})
SPECIAL_VALUES = ("inf", "-inf", "nan")
INTEGER_DTYPES = frozenset({"int64", "int32", "int16", "int8", "uint8"})
DTYPES = FLOAT_DTYPES | INTEGER_DTYPES | {"bool"}

Shape = tuple[int | str, ...]
"""Sizes, axis names, or arithmetic over them ("2*rows"), outermost first."""


@dataclass(frozen=True)
class Axis:
    """A named size. Constant when `low == high`; otherwise any multiple of `multiple` in [low, high]."""

    name: str
    low: int
    high: int
    multiple: int = 1


class DistributionKind(enum.StrEnum):
    """How the judge draws a tensor's values."""

    NORMAL = "normal"  # mean, std
    UNIFORM = "uniform"  # low, high
    INTEGER = "integer"  # integers in [low, high)
    ZIPF = "zipf"  # integers in [low, high), the k-th with a share of 1 / k ** exponent
    ONE_HOT = "one_hot"  # rows with a single one along the last dimension
    CONSTANT = "constant"  # value
    BERNOULLI = "bernoulli"  # p (bool)


@dataclass(frozen=True)
class Distribution:
    """A value distribution. `low` and `high` may name axes ("classes"), for index tensors."""

    kind: DistributionKind
    mean: float = 0.0
    std: float = 1.0
    low: float | str = 0.0
    high: float | str = 1.0
    value: float = 0.0
    p: float = 0.5
    exponent: float = 1.0


class Layout(enum.StrEnum):
    """How an input lies in memory."""

    CONTIGUOUS = "contiguous"
    TRANSPOSED = "transposed"  # last two dimensions swapped in memory
    SLICED = "sliced"  # a window of a larger tensor: padded rows
    OFFSET = "offset"  # contiguous, from one element past an aligned address


@dataclass(frozen=True)
class InputSpec:
    """One argument of the reference, in call order. A scalar has `shape == ()` and `scalar` set.

    layout is how it lies where it is timed; layouts are others in which it may come. special_values: what of
    "inf", "-inf" and "nan" may be among its values.
    """

    name: str
    shape: Shape
    dtype: str
    distribution: Distribution
    layout: Layout = Layout.CONTIGUOUS
    scalar: bool = False
    layouts: tuple[Layout, ...] = ()
    special_values: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputSpec:
    """One declared output. Shapes and dtypes not declared are taken from the reference when it runs."""

    name: str
    shape: Shape
    dtype: str


@dataclass(frozen=True)
class Workload:
    """One point of the envelope: a value for every axis that is not constant, and its weight in the mean."""

    name: str
    axes: Mapping[str, int]
    weight: float = 1.0


@dataclass(frozen=True)
class Accuracy:
    """How far from the fp64 result an output may be.

    `ratio` times the reference's own error at its dtype (largest and RMS), plus `ulps` at the output's scale.
    Where the reference cannot run in fp64 its own output is the yardstick, and `fallback_rtol` times the
    output's scale the bound.
    """

    ratio: float = 4.0
    ulps: float = 2.0
    fallback_rtol: float = 1e-5


class Precision(enum.StrEnum):
    """What arithmetic both sides may use inside."""

    STRICT = "strict-fp32"
    TF32_OK = "tf32-ok"
    BF16_ACCUMULATE_FP32 = "bf16-accumulate-fp32"


@dataclass(frozen=True)
class Timeouts:
    """Seconds. `load`: importing and constructing; `warm_up`: first calls of a workload; `call`: any later
    one; `build`: the builder."""

    load: float = 60.0
    warm_up: float = 120.0
    call: float = 10.0
    build: float = 120.0


BASELINES = ("torch_eager", "torch_compile", "torch_compile_max")


@dataclass(frozen=True)
class Contract:
    """Everything declared about a problem.

    inputs:  None where the file draws them itself (`get_inputs`, run in the reference runner under a secret
             seed); then there are no axes and one workload.
    init:    constructor arguments of a module reference: literals or axis expressions; None where the file's
             own `get_init_inputs` gives them.
    mutates: names of inputs that the operation is declared to change.
    may_ignore: names of inputs (parameters of the reference) that need not influence the outputs.
    may_be_constant: names of declared outputs that may be the same in every call or along a dimension.
    floor:   least speedup allowed on any workload for a job to have found something.
    """

    name: str
    workloads: tuple[Workload, ...]
    axes: tuple[Axis, ...] = ()
    inputs: tuple[InputSpec, ...] | None = None
    outputs: tuple[OutputSpec, ...] | None = None
    init: tuple[object, ...] | None = None
    mutates: tuple[str, ...] = ()
    may_ignore: tuple[str, ...] = ()
    may_be_constant: tuple[str, ...] = ()
    accuracy: Accuracy = field(default_factory=Accuracy)
    precision: Precision = Precision.STRICT
    mode: str = "eager"
    baselines: tuple[str, ...] = BASELINES
    floor: float = 0.98
    timeouts: Timeouts = field(default_factory=Timeouts)
    memory_bytes: int = 8 << 30
    device: str = "cpu"
    source_may_leave: bool = False

    def axis_values(self, workload: Workload) -> dict[str, int]:
        """Every axis with its value at `workload`."""
        values = {a.name: a.low for a in self.axes if a.low == a.high}
        return values | dict(workload.axes)


class ReferenceStyle(enum.StrEnum):
    """How the reference is called."""

    MODULE = "module"
    FUNCTIONAL = "functional"


@dataclass(frozen=True)
class Reference:
    """The reference implementation: one source file and how to enter it."""

    source: str
    entry: str
    style: ReferenceStyle


@dataclass(frozen=True)
class Problem:
    """What to optimise. Immutable; `digest` names it. `origin` ("native", "kernelbench") and `notes`
    (defaults taken because the format is silent, shown to the user) are not part of the hash."""

    contract: Contract
    reference: Reference
    origin: str = "native"
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of contract and reference."""
        return digest({"contract": self.contract, "reference": self.reference})
