"""Whether the parts of a contract fit together: axes, workloads, shapes, distributions, memory.

Every check raises ContractError with the dotted path of what does not fit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from evaluator.problem.contract import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    Axis,
    Contract,
    ContractError,
    DistributionKind,
    InputSpec,
    Layout,
    Workload,
)
from evaluator.problem.expressions import FUNCTIONS, axes_of, evaluate, sizes
from evaluator.problem.schema import nearest

_BITS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "bool": 8}
_KIND_DTYPES = {
    DistributionKind.NORMAL: FLOAT_DTYPES,
    DistributionKind.UNIFORM: FLOAT_DTYPES,
    DistributionKind.INTEGER: FLOAT_DTYPES | INTEGER_DTYPES,
    DistributionKind.ZIPF: FLOAT_DTYPES | INTEGER_DTYPES,
    DistributionKind.ONE_HOT: FLOAT_DTYPES | INTEGER_DTYPES | {"bool"},
    DistributionKind.CONSTANT: FLOAT_DTYPES | INTEGER_DTYPES | {"bool"},
    DistributionKind.BERNOULLI: frozenset({"bool"}),
}
_MAX_CORNER_AXES = 8
_MAX_ZIPF = 1 << 24


def check(contract: Contract) -> None:
    """Raise ContractError where the contract describes something impossible."""
    for axis in contract.axes:
        _check_axis(axis)
    for i, workload in enumerate(contract.workloads):
        _check_workload(contract, workload, f"workloads[{i}]")
    _check_names(contract)
    for spec in contract.inputs or ():
        _check_input(contract, spec)
    for i, argument in enumerate(contract.init or ()):
        _check_argument(contract, argument, f"init[{i}]")
    for output in contract.outputs or ():
        _check_shape(contract, output.shape, f"outputs.{output.name}.shape")
    for i, workload in enumerate(contract.workloads):
        _check_memory(contract, workload, f"workloads[{i}]")


def item_bytes(dtype: str) -> int:
    """Bytes of one element."""
    return (_BITS.get(dtype) or int(dtype.removeprefix("u").removeprefix("int"))) // 8


def workload_bytes(contract: Contract, workload: Workload) -> int:
    """Bytes of the declared inputs and outputs at `workload`."""
    axes = contract.axis_values(workload)
    tensors = [(t.shape, t.dtype) for t in contract.inputs or ()]
    tensors += [(t.shape, t.dtype) for t in contract.outputs or ()]
    return sum(math.prod(sizes(shape, axes)) * item_bytes(dtype) for shape, dtype in tensors)


def _ends(axis: Axis) -> tuple[int, int]:
    """The least and the greatest size of an axis."""
    return -(-axis.low // axis.multiple) * axis.multiple, axis.high // axis.multiple * axis.multiple


def _check_axis(axis: Axis) -> None:
    path = f"axes.{axis.name}"
    if axis.name in FUNCTIONS:
        raise ContractError(path, "is the name of a function in expressions; call the axis something else")
    if axis.low > axis.high:
        raise ContractError(f"{path}.range", f"starts at {axis.low}, above its end {axis.high}")
    low, high = _ends(axis)
    if low > high:
        raise ContractError(
            f"{path}.multiple", f"no multiple of {axis.multiple} lies between {axis.low} and {axis.high}"
        )


def _check_workload(contract: Contract, workload: Workload, path: str) -> None:
    axes = {a.name: a for a in contract.axes}
    for name, size in workload.axes.items():
        if name not in axes:
            raise ContractError(f"{path}.axes.{name}", f"no such axis; {nearest(name, axes)}")
        axis = axes[name]
        if not axis.low <= size <= axis.high:
            allowed = f"[{axis.low}, {axis.high}]" if axis.low < axis.high else f"the constant {axis.low}"
            raise ContractError(f"{path}.axes.{name}", f"{size} is outside {allowed}")
        if size % axis.multiple:
            raise ContractError(f"{path}.axes.{name}", f"{size} is not a multiple of {axis.multiple}")
    missing = [a.name for a in contract.axes if a.low != a.high and a.name not in workload.axes]
    if missing:
        raise ContractError(f"{path}.axes", f"gives no size for {', '.join(missing)}")


def _check_names(contract: Contract) -> None:
    names = [w.name for w in contract.workloads]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ContractError(f"workloads[{i}].name", f"{name!r} is taken; give each workload its own name")
    inputs = {s.name: s for s in contract.inputs or ()}
    for i, name in enumerate(contract.mutates):
        if name not in inputs:
            raise ContractError(f"mutates[{i}]", f"there is no input {name!r}; {nearest(name, inputs)}")
        if inputs[name].scalar:
            raise ContractError(f"mutates[{i}]", f"{name!r} is a Python number, which cannot be changed")
    _check_exceptions(contract)


def _check_exceptions(contract: Contract) -> None:
    """Outputs that may be constant are declared ones, and not all there are."""
    outputs = [o.name for o in contract.outputs or ()]
    for i, name in enumerate(contract.may_be_constant):
        path = f"may_be_constant[{i}]"
        if not outputs:
            raise ContractError(path, "needs declared outputs; declare `outputs`")
        if name not in outputs:
            raise ContractError(path, f"there is no output {name!r}; {nearest(name, outputs)}")
    if outputs and len(contract.may_be_constant) == len(outputs) and not contract.mutates:
        raise ContractError(
            "may_be_constant", "names every output; one must vary for anything to be told right from wrong"
        )


def _check_input(contract: Contract, spec: InputSpec) -> None:
    path = f"inputs.{spec.name}"
    _check_shape(contract, spec.shape, f"{path}.shape")
    for key, layout in [("layout", spec.layout), *(("layouts", other) for other in spec.layouts)]:
        least_rank = {Layout.TRANSPOSED: 2, Layout.SLICED: 1}.get(layout, 0)
        if len(spec.shape) < least_rank:
            raise ContractError(f"{path}.{key}", f"{layout.value!r} needs at least {least_rank} dimensions")
    if spec.special_values and spec.dtype not in FLOAT_DTYPES:
        raise ContractError(f"{path}.special_values", f"{spec.dtype} has none; leave it out")
    _check_distribution(contract, spec, f"{path}.distribution")


def _check_argument(contract: Contract, argument: object, path: str) -> None:
    """Text with an axis in it must be arithmetic over declared axes; any other text is a literal."""
    if isinstance(argument, tuple):
        for i, item in enumerate(argument):
            _check_argument(contract, item, f"{path}[{i}]")
    if not isinstance(argument, str):
        return
    try:
        used = axes_of(argument)
    except ValueError:
        return
    if used & {a.name for a in contract.axes}:
        for axes in _points(contract, (argument,), path):
            _bound(argument, axes, path)


def _check_distribution(contract: Contract, spec: InputSpec, path: str) -> None:
    drawn = spec.distribution
    if spec.dtype not in _KIND_DTYPES[drawn.kind]:
        fitting = ", ".join(k.value for k, dtypes in _KIND_DTYPES.items() if spec.dtype in dtypes)
        raise ContractError(path, f"{drawn.kind.value!r} cannot fill {spec.dtype}; use one of: {fitting}")
    if drawn.kind is DistributionKind.ONE_HOT and not spec.shape:
        raise ContractError(path, "'one_hot' needs at least one dimension")
    if drawn.kind is DistributionKind.CONSTANT:
        _check_constant(spec, path)
    if drawn.kind in (DistributionKind.UNIFORM, DistributionKind.INTEGER, DistributionKind.ZIPF):
        for axes in _points(contract, (drawn.low, drawn.high), path):
            low, high = (_bound(b, axes, path) for b in (drawn.low, drawn.high))
            if low >= high:
                raise ContractError(path, f"low ({low:g}) must be below high ({high:g}){_where(axes)}")
            if drawn.kind is DistributionKind.ZIPF and high - low > _MAX_ZIPF:
                raise ContractError(path, f"'zipf' has at most {_MAX_ZIPF} values, not {high - low:g}")
            _check_fits(spec.dtype, low, high - 1, path)


def _bound(bound: float | str, axes: Mapping[str, int], path: str) -> float:
    if not isinstance(bound, str):
        return bound
    try:
        return evaluate(bound, axes)
    except ValueError as e:
        raise ContractError(path, f"{bound!r}: {e}{_where(axes)}") from e


def _check_constant(spec: InputSpec, path: str) -> None:
    value = spec.distribution.value
    if spec.dtype in FLOAT_DTYPES:
        return
    if not value.is_integer() or (spec.dtype == "bool" and value not in (0, 1)):
        raise ContractError(f"{path}.value", f"{value:g} is not a value of {spec.dtype}")
    _check_fits(spec.dtype, value, value, path)


def _check_fits(dtype: str, least: float, greatest: float, path: str) -> None:
    if dtype not in INTEGER_DTYPES:
        return
    bits = 8 * item_bytes(dtype)
    low, high = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if least < low or greatest > high:
        raise ContractError(path, f"{dtype} holds {low} to {high}, not {least:g} to {greatest:g}")


def _check_shape(contract: Contract, shape: Sequence[int | str], path: str) -> None:
    for i, size in enumerate(shape):
        for axes in _points(contract, (size,), f"{path}[{i}]"):
            try:
                value = evaluate(size, axes)
            except ValueError as e:
                raise ContractError(f"{path}[{i}]", f"{e}{_where(axes)}") from e
            if value < 1:
                raise ContractError(f"{path}[{i}]", f"{size!r} is {value}{_where(axes)}; sizes start at 1")


def _points(contract: Contract, exprs: Sequence[float | str], path: str) -> Iterator[dict[str, int]]:
    """The values of the axes that `exprs` use: at every corner of the envelope and at every workload."""
    declared = {a.name: a for a in contract.axes}
    used: set[str] = set()
    for expr in exprs:
        try:
            used |= axes_of(expr) if isinstance(expr, str) else frozenset()
        except ValueError as e:
            raise ContractError(path, str(e)) from e
    unknown = sorted(used - declared.keys())
    if unknown:
        raise ContractError(path, f"there is no axis {unknown[0]!r}; {nearest(unknown[0], declared)}")
    if len(used) > _MAX_CORNER_AXES:
        raise ContractError(path, f"uses more than {_MAX_CORNER_AXES} axes")
    names = sorted(used)
    for corner in itertools.product(*(_ends(declared[n]) for n in names)):
        yield dict(zip(names, corner, strict=True))
    for workload in contract.workloads:
        values = contract.axis_values(workload)
        yield {n: values[n] for n in names}


def _where(axes: Mapping[str, int]) -> str:
    return f" at {', '.join(f'{k} = {v}' for k, v in axes.items())}" if axes else ""


def _check_memory(contract: Contract, workload: Workload, path: str) -> None:
    needed = workload_bytes(contract, workload)
    if needed > contract.memory_bytes:
        raise ContractError(
            path,
            f"its inputs and outputs take {needed} bytes, above memory_bytes ({contract.memory_bytes}); "
            "make the sizes smaller or raise the limit",
        )
