"""A captured call as plain data: what to launch, in which order, with which bytes. Written by a runner, so hostile.

    Plan
      nodes    Kernel | Memset | Memcpy | Empty, named by their place
      edges    (before, after) pairs of places

`read` takes nothing on trust: anything that is not exactly of this form raises PlanError. Whether a well-formed plan
may run is for `evaluator.launcher.check`. Standard library only.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from dataclasses import dataclass

MAX_NODES = 4096
MAX_EDGES = 16384
MAX_ARGUMENTS = 256
MAX_ARGUMENT_BYTES = 4096
MAX_NAME = 4096

Dimensions = tuple[int, int, int]
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z_$.][A-Za-z0-9_$.]*")


def digest(code: bytes) -> str:
    """What a plan calls a cubin: the SHA-256 of its bytes."""
    return hashlib.sha256(code).hexdigest()


class PlanError(Exception):
    """Not a plan."""


@dataclass(frozen=True)
class Argument:
    """One parameter of a device function: its place in the parameter buffer and its bytes."""

    offset: int
    value: bytes


@dataclass(frozen=True)
class Kernel:
    """One launch. `code` is the SHA-256 of the cubin that has the function `name`.

    shared_bytes: dynamic shared memory of the launch; cluster: blocks per cluster, (1, 1, 1) where there are none;
    cooperative: all blocks must be resident at once.
    """

    code: str
    name: str
    grid: Dimensions
    block: Dimensions
    shared_bytes: int
    cluster: Dimensions
    cooperative: bool
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Memset:
    """`height` rows of `width` elements of `element_size` bytes set to `value`, rows `pitch` bytes apart."""

    address: int
    pitch: int
    value: int
    element_size: int
    width: int
    height: int


@dataclass(frozen=True)
class Memcpy:
    """`size` bytes from one device address to another."""

    source: int
    target: int
    size: int


@dataclass(frozen=True)
class Empty:
    """Nothing but a place for edges to meet."""


Node = Kernel | Memset | Memcpy | Empty


@dataclass(frozen=True)
class Plan:
    """All nodes of one call and what must come before what."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]


_KINDS: dict[str, type[Node]] = {c.__name__: c for c in (Kernel, Memset, Memcpy, Empty)}
_COUNTED: dict[str, type[Memset] | type[Memcpy] | type[Empty]] = {
    c.__name__: c for c in (Memset, Memcpy, Empty)
}


def write(plan: Plan) -> dict[str, object]:
    """The plan as JSON data."""
    nodes = [{"kind": type(n).__name__, **_fields(n)} for n in plan.nodes]
    return {"nodes": nodes, "edges": [list(e) for e in plan.edges]}


def _fields(node: Node) -> dict[str, object]:
    values: dict[str, object] = {f.name: getattr(node, f.name) for f in dataclasses.fields(node)}
    if isinstance(node, Kernel):
        values["arguments"] = [[a.offset, a.value.hex()] for a in node.arguments]
    return values


def read(data: object) -> Plan:
    """The plan that JSON data is. Raises PlanError."""
    nodes, edges = _exactly(data, "nodes", "edges")
    read_nodes = tuple(_node(n) for n in _list(nodes, MAX_NODES))
    read_edges = tuple(_edge(e, len(read_nodes)) for e in _list(edges, MAX_EDGES))
    if not read_nodes:
        raise PlanError("nothing is launched")
    return Plan(read_nodes, read_edges)


def _node(data: object) -> Node:
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise PlanError("a node of an unknown kind")
    names = [f.name for f in dataclasses.fields(_KINDS[kind])]
    values = dict(zip(names, _exactly(data, "kind", *names)[1:], strict=True))
    if kind == "Kernel":
        return _kernel(values)
    return _COUNTED[kind](**{n: _count(v) for n, v in values.items()})


def _kernel(values: dict[str, object]) -> Kernel:
    arguments = tuple(_argument(a) for a in _list(values["arguments"], MAX_ARGUMENTS))
    ends = [0, *(a.offset + len(a.value) for a in arguments)]
    if any(a.offset < end for a, end in zip(arguments, ends, strict=False)) or ends[-1] > MAX_ARGUMENT_BYTES:
        raise PlanError("arguments overlap, are out of order or too many")
    if type(values["cooperative"]) is not bool:
        raise PlanError("`cooperative` is no truth value")
    return Kernel(
        code=_text(values["code"], _DIGEST),
        name=_text(values["name"], _NAME),
        grid=_dimensions(values["grid"]),
        block=_dimensions(values["block"]),
        shared_bytes=_count(values["shared_bytes"]),
        cluster=_dimensions(values["cluster"]),
        cooperative=values["cooperative"],
        arguments=arguments,
    )


def _argument(data: object) -> Argument:
    offset, value = _of_length(data, 2)
    try:
        return Argument(_count(offset), bytes.fromhex(_text(value, re.compile(r"([0-9a-f]{2})+"))))
    except ValueError as e:
        raise PlanError("an argument is not written in hexadecimal") from e


def _edge(data: object, nodes: int) -> tuple[int, int]:
    before, after = (_count(v) for v in _of_length(data, 2))
    if before >= nodes or after >= nodes or before == after:
        raise PlanError("an edge joins no two nodes")
    return before, after


def _dimensions(data: object) -> Dimensions:
    x, y, z = (_count(v) for v in _of_length(data, 3))
    if 0 in (x, y, z):
        raise PlanError("a dimension of 0")
    return x, y, z


def _exactly(data: object, *names: str) -> list[object]:
    if not isinstance(data, dict) or set(data) != set(names):
        raise PlanError(f"not an object with exactly {', '.join(names)}")
    return [data[n] for n in names]


def _list(data: object, most: int) -> list[object]:
    if not isinstance(data, (list, tuple)) or len(data) > most:
        raise PlanError(f"not a list of at most {most} items")
    return list(data)


def _of_length(data: object, length: int) -> list[object]:
    items = _list(data, length)
    if len(items) != length:
        raise PlanError(f"not {length} items")
    return items


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise PlanError("not a count")
    return value


def _text(value: object, form: re.Pattern[str]) -> str:
    if not isinstance(value, str) or len(value) > 2 * MAX_NAME or not form.fullmatch(value):
        raise PlanError("a name or digest of no known form")
    return value
