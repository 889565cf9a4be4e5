"""A graph without operations in place, which tracing leaves behind on intermediate results."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.templates.expr import Unmatched
from evaluator.problem.graph import Argument, Graph, Node, Ref

_IN_PLACE = re.compile(r"aten\.(\w*[a-z0-9])_\.(\w+)")
FRESH = frozenset(
    {"sum", "mean", "linalg_vector_norm", "neg", "amax", "amin", "var", "mul", "add", "sub", "div"}
)

VIEWS = frozenset(
    {
        "view",
        "reshape",
        "_unsafe_view",
        "unsqueeze",
        "squeeze",
        "expand",
        "permute",
        "slice",
        "select",
        "alias",
    }
)


def functional(graph: Graph) -> Graph:
    """The same graph with each operation in place as a plain one, later uses going to its result.

    Raises Unmatched where what is changed may be seen under another name: an input, a view or what a view was made of.
    """
    now: dict[str, Ref] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        args = tuple(_renamed(a, now) for a in node.args)
        found = _IN_PLACE.fullmatch(node.op)
        if found is None:
            nodes.append(
                replace(node, args=args, kwargs={k: _renamed(v, now) for k, v in node.kwargs.items()})
            )
            continue
        target = node.args[0]
        assert isinstance(target, Ref)
        if not _is_private(target, graph):
            raise Unmatched(f"{node.op} on a value with several names")
        now[target.id] = Ref(node.id)
        nodes.append(_plain(node, found[1], found[2], args))
    return replace(graph, nodes=tuple(nodes), outputs=tuple(_ref(r, now) for r in graph.outputs))


def _plain(node: Node, name: str, overload: str, args: tuple[Argument, ...]) -> Node:
    if name == "copy":
        return replace(node, op="aten._to_copy.default", args=args[1:2])
    return replace(node, op=f"aten.{name}.{overload}", args=args)


def _is_private(target: Ref, graph: Graph) -> bool:
    """Whether a value is a node's own memory, which no view shares."""
    made = next((n for n in graph.nodes if n.id == target.id), None)
    if made is None or target.item is not None or made.op.split(".")[1].rstrip("_") not in FRESH:
        return False
    users = [n for n in graph.nodes if any(isinstance(a, Ref) and a.id == target.id for a in n.args)]
    return not any(n.op.split(".")[1] in VIEWS for n in users)


def _renamed(value: Argument, now: dict[str, Ref]) -> Argument:
    if isinstance(value, Ref):
        return _ref(value, now)
    return tuple(_renamed(v, now) for v in value) if isinstance(value, tuple) else value


def _ref(ref: Ref, now: dict[str, Ref]) -> Ref:
    while ref.item is None and ref.id in now:
        ref = now[ref.id]
    return ref
