"""An operation over small windows inside a graph: pooling or a convolution of each channel with a filter of its own;
and the graph that is left when its result is an input."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agent.templates.arguments import argument, literal, numbers, references
from agent.templates.expr import Unmatched
from evaluator.problem.graph import Argument, Graph, Node, Ref, Value

WINDOW = "window"


@dataclass(frozen=True)
class Window:
    """What is done with each window. `kind`: "max", "sum" or "filter"; `weight`: the filters' tensor; `divisor`: of
    a sum. The geometry is per dimension, of one to three."""

    kind: str
    source: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    weight: str = ""
    divisor: int = 1

    @property
    def rank(self) -> int:
        """How many dimensions a window has."""
        return len(self.size)


@dataclass(frozen=True)
class Cut:
    """A graph cut at its window: `rest` has the result as an input named "window", and the operations after it."""

    window: Window
    rest: Graph


def cut(graph: Graph) -> Cut:
    """Raises Unmatched where the graph has not just one such operation, on a tensor as it is."""
    found = [n for n in graph.nodes if n.op in WINDOWS]
    if len(found) != 1:
        raise Unmatched("not just one operation over windows")
    (node,) = found
    before, source = _source(graph, node)
    window, bias = WINDOWS[node.op](graph, node, source)
    result, shape = node.id, node.shapes[0]
    if before is not None:
        window = _of_last(window)
        result, shape = _squeezed(graph, node)
    rest = [n for n in graph.nodes if n is not node and n is not before and n.id != result]
    if any(r.id == node.id and r.item for n in rest for r in references(n.args)):
        raise Unmatched("the places of largest elements")
    now = dict.fromkeys((node.id, result), Ref(WINDOW))
    if bias is not None:
        channels = Node(
            "window_bias_view",
            "aten.view.default",
            (bias, ()),
            {},
            ((1, shape[1], *(1,) * window.rank),),
            ("float32",),
        )
        added = Node(
            "window_bias", "aten.add.Tensor", (Ref(WINDOW), Ref(channels.id)), {}, (shape,), ("float32",)
        )
        now = dict.fromkeys(now, Ref(added.id))
        rest = [channels, added, *rest]
    if any(r.id == node.id and r.item for r in graph.outputs):
        raise Unmatched("the places of largest elements")
    nodes = tuple(replace(n, args=tuple(_renamed(a, now) for a in n.args)) for n in rest)
    inputs = (*graph.inputs, Value(WINDOW, shape, "float32"))
    return Cut(window, Graph(inputs, graph.parameters, nodes, tuple(now.get(r.id, r) for r in graph.outputs)))


def _biased(bias: Argument, shape: tuple[int, ...]) -> tuple[Node, Node]:
    """A bias per channel, added to the result."""
    of_channel = (1, shape[1], *(1,) * (len(shape) - 2))
    view = Node("window_channels", "aten.view.default", (bias, of_channel), {}, (of_channel,), ("float32",))
    return view, Node(
        "window_bias", "aten.add.Tensor", (Ref(WINDOW), Ref(view.id)), {}, (shape,), ("float32",)
    )


def _source(graph: Graph, node: Node) -> tuple[Node | None, str]:
    """The tensor that windows are taken of, and the view that gave it a dimension more."""
    of = node.args[0]
    before = next((n for n in graph.nodes if isinstance(of, Ref) and n.id == of.id), None)
    if before is not None and before.op == "aten.unsqueeze.default":
        of = before.args[0]
    elif before is not None:
        raise Unmatched("windows of something computed")
    found = next(
        (v for v in (*graph.inputs, *graph.parameters) if isinstance(of, Ref) and v.id == of.id), None
    )
    rank = len(node.shapes[0]) - (before is not None)
    if found is None or found.dtype != "float32" or len(found.shape) != rank or rank < 3:
        raise Unmatched("windows of something other than batches in float32")
    return before, found.id


def _squeezed(graph: Graph, node: Node) -> tuple[str, tuple[int, ...]]:
    """The result of pooling a sequence, which is made as an image of height 1."""
    users = [n for n in graph.nodes if any(r.id == node.id for r in references(n.args))]
    if len(users) != 1 or not users[0].op.startswith("aten.squeeze"):
        raise Unmatched("a sequence that stays an image")
    return users[0].id, users[0].shapes[0]


def _of_last(window: Window) -> Window:
    """The same over the last dimension only."""
    return replace(
        window,
        size=window.size[-1:],
        stride=window.stride[-1:],
        padding=window.padding[-1:],
        dilation=window.dilation[-1:],
    )


def _per_dimension(value: Argument, rank: int, default: tuple[int, ...]) -> tuple[int, ...]:
    found = numbers(value) if value is not None else ()
    return (found * rank if len(found) == 1 else found) or default


def _pooling(node: Node, source: str, kind: str, dilation: Argument) -> Window:
    rank = len(node.shapes[0]) - 2
    size = _per_dimension(node.args[1], rank, ())
    stride = _per_dimension(argument(node, 2, "stride"), rank, size)
    padding = _per_dimension(argument(node, 3, "padding"), rank, (0,) * rank)
    return Window(kind, source, size, stride, padding, _per_dimension(dilation, rank, (1,) * rank))


def _largest(graph: Graph, node: Node, source: str) -> tuple[Window, Argument]:
    if argument(node, 5, "ceil_mode", False):
        raise Unmatched("windows beyond the edge")
    return _pooling(node, source, "max", argument(node, 4, "dilation")), None


def _average(graph: Graph, node: Node, source: str) -> tuple[Window, Argument]:
    window = _pooling(node, source, "sum", None)
    inside = not argument(node, 5, "count_include_pad", True) and any(window.padding)
    if argument(node, 4, "ceil_mode", False) or inside:
        raise Unmatched("windows of different sizes at the edge")
    divisor = argument(node, 6, "divisor_override")
    size = math.prod(window.size)
    return replace(window, divisor=size if divisor is None else int(literal(divisor))), None


def _filters(graph: Graph, node: Node, source: str) -> tuple[Window, Argument]:
    _, weight, bias, stride, padding, dilation, transposed, _, groups = node.args
    known = {v.id: v.shape for v in (*graph.inputs, *graph.parameters)}
    shape = known.get(weight.id, ()) if isinstance(weight, Ref) else ()
    if transposed or not isinstance(weight, Ref) or len(shape) < 3 or shape[:2] != (groups, 1):
        raise Unmatched("a convolution across channels")
    rank = len(shape) - 2
    steps, edge, spread = (_per_dimension(v, rank, ()) for v in (stride, padding, dilation))
    return Window("filter", source, shape[2:], steps, edge, spread, weight=weight.id), bias


WINDOWS: Mapping[str, Callable[[Graph, Node, str], tuple[Window, Argument]]] = {
    "aten.max_pool2d_with_indices.default": _largest,
    "aten.max_pool3d_with_indices.default": _largest,
    "aten.avg_pool2d.default": _average,
    "aten.avg_pool3d.default": _average,
    "aten.convolution.default": _filters,
}


def _renamed(value: Argument, now: Mapping[str, Ref]) -> Argument:
    if isinstance(value, Ref):
        return now.get(value.id, value)
    return tuple(_renamed(v, now) for v in value) if isinstance(value, tuple) else value
