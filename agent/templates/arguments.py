"""The arguments of traced operations."""

from __future__ import annotations

from collections.abc import Iterator

from agent.templates.expr import Unmatched
from evaluator.problem.graph import Argument, Node, Ref


def literal(value: Argument) -> float:
    """A number in an argument's place, as the tracer writes it. Raises Unmatched."""
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    if isinstance(value, (bool, int, float)):
        return float(value)
    raise Unmatched(f"{value!r} is not a number")


def argument(node: Node, place: int, name: str, default: Argument = None) -> Argument:
    """An argument given by place or by name."""
    if len(node.args) > place:
        return node.args[place]
    return node.kwargs.get(name, default)


def numbers(value: Argument) -> tuple[int, ...]:
    """A list of integers. Raises Unmatched."""
    if not isinstance(value, tuple) or not all(type(v) is int for v in value):
        raise Unmatched(f"{value!r} where integers are expected")
    return tuple(v for v in value if isinstance(v, int))


def references(values: tuple[Argument, ...]) -> Iterator[Ref]:
    """Every value that arguments refer to."""
    for value in values:
        if isinstance(value, Ref):
            yield value
        elif isinstance(value, tuple):
            yield from references(value)
