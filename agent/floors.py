"""The floor of an operation on a calibrated machine: no implementation moves its bytes faster."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from agent.api import Attempt
from evaluator.problem.graph import Graph, Ref

CLOSE = 1.05
"""Times within this factor of the floor leave nothing to search for: it is what the judge can tell apart."""

ITEM_BYTES = {
    "float64": 8,
    "int64": 8,
    "float32": 4,
    "int32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}

PARTIAL = frozenset(
    {"index", "index_select", "gather", "embedding", "slice", "select", "take", "as_strided", "diagonal"}
)
"""Operations that may read less than the whole of their input."""

Bandwidth = Callable[[int], float]
"""Bytes that a call touches → bytes per second at which this machine moves so many at most, caches included."""


def floors(graphs: Mapping[str, Graph], bandwidth: Bandwidth) -> Mapping[str, float]:
    """Seconds by workload that its inputs and outputs alone take."""
    sizes = {workload: bytes_touched(graph) for workload, graph in graphs.items()}
    return {workload: size / bandwidth(size) for workload, size in sizes.items()}


def bytes_touched(graph: Graph) -> int:
    """Bytes of what the operation must read and write at least: outputs, and those inputs and weights that it uses
    as a whole."""
    nodes = {node.id: node for node in graph.nodes}
    whole = [n for n in graph.nodes if not PARTIAL.intersection(n.op.split("."))]
    used = {r.id for node in whole for r in _refs((*node.args, *node.kwargs.values()))}
    read = [v for v in (*graph.inputs, *graph.parameters) if v.id in used]
    written = 0
    for ref in graph.outputs:
        if ref.id in nodes:
            place = ref.item or 0
            written += _bytes(nodes[ref.id].shapes[place], nodes[ref.id].dtypes[place])
    return written + sum(_bytes(v.shape, v.dtype) for v in read)


def at_floor(attempt: Attempt, floor: Mapping[str, float] | None) -> bool:
    """Whether every workload of an accepted attempt is as fast as the machine can be."""
    timing = attempt.evaluation.timing if attempt.evaluation is not None else None
    if timing is None or not floor:
        return False
    return all(w.candidate.value <= CLOSE * floor.get(w.workload, 0.0) for w in timing.workloads)


def _bytes(shape: tuple[int, ...], dtype: str) -> int:
    return math.prod(shape) * ITEM_BYTES.get(dtype, 1)


def _refs(arguments: tuple[object, ...]) -> list[Ref]:
    found: list[Ref] = []
    for argument in arguments:
        if isinstance(argument, Ref):
            found.append(argument)
        elif isinstance(argument, tuple):
            found.extend(_refs(argument))
    return found
