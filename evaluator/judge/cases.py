"""The points at which a problem is judged: its workloads, and hidden ones drawn from its envelope."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluator.judge.arena import TensorSpec, contiguous_strides, laid_out
from evaluator.problem.contract import Axis, Contract, InputSpec, Layout
from evaluator.problem.envelope import workload_bytes
from evaluator.problem.expressions import axes_of, evaluate, sizes

PRIMES = (2, 3, 5, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191)

Pick = Callable[[Axis, int, random.Random], int]
"""A size of an axis, at most so large, or its smallest."""


@dataclass(frozen=True)
class Case:
    """One point of the envelope. `key` names the module instance it is called on: cases whose constructor
    arguments are equal share one. `init` is those arguments as a Python literal, None where the file gives them.
    `layouts` are the inputs', where they are not those in which it is timed."""

    name: str
    axes: Mapping[str, int]
    weight: float
    key: str
    init: str | None
    layouts: tuple[Layout, ...] | None = None


def visible(contract: Contract) -> tuple[Case, ...]:
    """The declared workloads."""
    return tuple(_case(contract, w.name, contract.axis_values(w), w.weight) for w in contract.workloads)


def hidden(contract: Contract, chance: random.Random, count: int) -> tuple[Case, ...]:
    """Points that the candidate's author did not choose: `count` of other sizes, then other layouts.

    Sizes are the smallest, primes, ones at and beside powers of two, then any. None is larger than the largest
    workload: in any axis, in the product of all, in the bytes that are declared. None where no axis has a range.
    """
    sized = [_relaid(contract, case, chance) for case in _other_sizes(contract, chance, count)]
    return (*sized, *_other_layouts(contract, chance))


def _other_layouts(contract: Contract, chance: random.Random) -> Iterator[Case]:
    """A workload with every input in another layout that is declared for it, until each has been in all of its own."""
    specs = contract.inputs or ()
    for i in range(max((len(s.layouts) for s in specs), default=0)):
        layouts = tuple(s.layouts[i % len(s.layouts)] if s.layouts else s.layout for s in specs)
        case = chance.choice(visible(contract))
        yield replace(case, name=f"{case.name}, other layouts {i + 1}", weight=0.0, layouts=layouts)


def _relaid(contract: Contract, case: Case, chance: random.Random) -> Case:
    """The case with each input in any of its layouts."""
    specs = contract.inputs or ()
    return replace(case, layouts=tuple(chance.choice((s.layout, *s.layouts)) for s in specs))


def _other_sizes(contract: Contract, chance: random.Random, count: int) -> tuple[Case, ...]:
    free = [a for a in contract.axes if a.low != a.high]
    if not free:
        return ()
    fixed = {a.name: a.low for a in contract.axes if a.low == a.high}
    most = {a.name: max(w.axes[a.name] for w in contract.workloads) for a in free}
    volume = max(math.prod(w.axes[a.name] for a in free) for w in contract.workloads)
    known = [contract.axis_values(w) for w in contract.workloads]
    limit = max(workload_bytes(contract, w) for w in contract.workloads)
    found: list[dict[str, int]] = []
    for attempt in range(8 * count):
        pick = _smallest if attempt == 0 else (_any, _odd, _edge)[attempt % 3]
        axes = fixed | _point(free, most, volume, pick, chance)
        if axes not in known and axes not in found and _bytes(contract, axes) <= limit:
            found.append(axes)
        if len(found) == count:
            break
    return tuple(_case(contract, _label(axes, free), axes, 0.0) for axes in found)


def _point(
    free: Sequence[Axis], most: Mapping[str, int], volume: int, pick: Pick, chance: random.Random
) -> dict[str, int]:
    """A size for every free axis, their product at most `volume`: what one takes the others cannot have."""
    room = volume / math.prod(_least(a) for a in free)
    axes = {}
    for axis in chance.sample(free, len(free)):
        least = _least(axis)
        axes[axis.name] = pick(axis, min(most[axis.name], int(room * least)), chance)
        room *= least / axes[axis.name]
    return {a.name: axes[a.name] for a in free}


def input_specs(contract: Contract, case: Case) -> tuple[TensorSpec | None, ...]:
    """Where declared inputs lie; None for Python numbers."""
    assert contract.inputs is not None
    layouts = case.layouts or [spec.layout for spec in contract.inputs]
    return tuple(_input(spec, case, layout) for spec, layout in zip(contract.inputs, layouts, strict=True))


def _input(spec: InputSpec, case: Case, layout: Layout) -> TensorSpec | None:
    if spec.scalar:
        return None
    return laid_out(sizes(spec.shape, case.axes), spec.dtype, layout)


def drawn_specs(shapes: Sequence[tuple[tuple[int, ...], str] | None]) -> tuple[TensorSpec | None, ...]:
    """Where inputs lie that the file draws itself: contiguous."""
    return tuple(None if s is None else TensorSpec(s[0], contiguous_strides(s[0]), s[1]) for s in shapes)


def _case(contract: Contract, name: str, axes: Mapping[str, int], weight: float) -> Case:
    if contract.init is None:
        return Case(name, axes, weight, "file", None)
    literal = repr([_argument(a, axes) for a in contract.init])
    return Case(name, axes, weight, literal, literal)


def _argument(argument: object, axes: Mapping[str, int]) -> object:
    """A constructor argument: text with an axis in it is arithmetic, anything else a literal."""
    if isinstance(argument, tuple):
        return tuple(_argument(a, axes) for a in argument)
    if isinstance(argument, str):
        try:
            used = axes_of(argument)
        except ValueError:
            return argument
        return evaluate(argument, axes) if used & axes.keys() else argument
    return argument


def _label(axes: Mapping[str, int], free: Sequence[Axis]) -> str:
    return f"hidden {', '.join(f'{a.name}={axes[a.name]}' for a in free)}"


def _bytes(contract: Contract, axes: Mapping[str, int]) -> int:
    workload = contract.workloads[0]
    free = {k: v for k, v in axes.items() if k in workload.axes}
    return workload_bytes(contract, type(workload)(workload.name, free, workload.weight))


def _least(axis: Axis) -> int:
    """The smallest size of an axis."""
    return -(-axis.low // axis.multiple) * axis.multiple


def _multiple(axis: Axis, value: int) -> int:
    """The multiple in the axis's range that is nearest below `value`, or its smallest."""
    return max(_least(axis), min(value, axis.high) // axis.multiple * axis.multiple)


def _smallest(axis: Axis, most: int, chance: random.Random) -> int:
    return _multiple(axis, axis.low)


def _odd(axis: Axis, most: int, chance: random.Random) -> int:
    fitting = [p for p in PRIMES if axis.low <= p <= most] or [most - 1]
    return _multiple(axis, chance.choice(fitting[-5:]))


def _edge(axis: Axis, most: int, chance: random.Random) -> int:
    """A power of two, one less or one more: where vectors, blocks and tiles end."""
    sizes = [(1 << k) + d for k in range(2, max(3, most.bit_length())) for d in (-1, 0, 1)]
    fitting = [n for n in sizes if axis.low <= n <= most] or [most]
    return _multiple(axis, chance.choice(fitting[-9:]))


def _any(axis: Axis, most: int, chance: random.Random) -> int:
    return _multiple(axis, chance.randint(min(axis.low, most), most))


def one_per_key(all_cases: Sequence[Case]) -> list[Case]:
    """A case for each instance that they are called on."""
    return list({c.key: c for c in all_cases}.values())
