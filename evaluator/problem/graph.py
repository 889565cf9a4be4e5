"""The traced graph of a reference: operations, shapes, dtypes, edges. Plain data, made in a reference runner.

Matchers and prompts use only this, never the reference's source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """An argument that is another value: an input, a parameter or a node, by its id."""

    id: str
    item: int | None = None
    """Which output of a node with several, or None."""


Argument = Ref | int | float | bool | str | None | tuple["Argument", ...]


@dataclass(frozen=True)
class Value:
    """An input or parameter: id, shape and dtype ("float32")."""

    id: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Node:
    """One operation ("aten.exp.default") with its arguments and the shape and dtype of each output."""

    id: str
    op: str
    args: tuple[Argument, ...]
    kwargs: Mapping[str, Argument]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """A reference at one workload. `inputs` in call order, `parameters` in state-dict order, `nodes` in
    execution order, `outputs` in return order."""

    inputs: tuple[Value, ...]
    parameters: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Ref, ...]

    @staticmethod
    def from_json(data: Mapping[str, object]) -> Graph:
        """Read what the tracer wrote. Raises ValueError on anything that is not such a graph."""
        try:
            return Graph(
                inputs=tuple(_value(v) for v in _rows(data["inputs"])),
                parameters=tuple(_value(v) for v in _rows(data["parameters"])),
                nodes=tuple(_node(n) for n in _rows(data["nodes"])),
                outputs=tuple(_ref(r) for r in _rows(data["outputs"])),
            )
        except (KeyError, TypeError) as e:
            raise ValueError(f"not a traced graph: {e}") from e


def _rows(data: object) -> Sequence[Mapping[str, object]]:
    if not isinstance(data, list) or not all(isinstance(d, dict) for d in data):
        raise TypeError("expected a list of objects")
    return data


def _ints(data: object) -> tuple[int, ...]:
    if not isinstance(data, list) or not all(type(d) is int for d in data):
        raise TypeError("expected a list of integers")
    return tuple(data)


def _value(data: Mapping[str, object]) -> Value:
    return Value(str(data["id"]), _ints(data["shape"]), str(data["dtype"]))


def _ref(data: Mapping[str, object]) -> Ref:
    item = data.get("item")
    if item is not None and type(item) is not int:
        raise TypeError("item is not an integer")
    return Ref(str(data["ref"]), item)


def _argument(data: object) -> Argument:
    if isinstance(data, dict):
        return _ref(data)
    if isinstance(data, list):
        return tuple(_argument(d) for d in data)
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    raise TypeError(f"unexpected argument {type(data).__name__}")


def _node(data: Mapping[str, object]) -> Node:
    kwargs = data["kwargs"]
    args = data["args"]
    shapes = data["shapes"]
    dtypes = data["dtypes"]
    if not (isinstance(kwargs, dict) and isinstance(args, list)):
        raise TypeError("args and kwargs")
    if not (isinstance(shapes, list) and isinstance(dtypes, list)):
        raise TypeError("shapes and dtypes")
    return Node(
        id=str(data["id"]),
        op=str(data["op"]),
        args=tuple(_argument(a) for a in args),
        kwargs={str(k): _argument(v) for k, v in kwargs.items()},
        shapes=tuple(_ints(s) for s in shapes),
        dtypes=tuple(str(d) for d in dtypes),
    )
