"""A matrix product inside a graph: what is multiplied, and the graph that is left when its result is an input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.templates.arguments import literal, numbers
from agent.templates.expr import Unmatched
from evaluator.problem.graph import Argument, Graph, Node, Ref, Value

PRODUCT = "product"
PRODUCTS = frozenset({"aten.mm.default", "aten.addmm.default", "aten.bmm.default"})
FLATTENING = frozenset({"aten.view.default", "aten.reshape.default", "aten._unsafe_view.default"})


@dataclass(frozen=True)
class Factor:
    """An operand of a product: a tensor of the call, its last two dimensions exchanged if `transposed`."""

    source: str
    transposed: bool


@dataclass(frozen=True)
class Product:
    """The product of two matrices, or of two batches of them. Leading dimensions of `left` are rows, too."""

    left: Factor
    right: Factor
    batched: bool


@dataclass(frozen=True)
class Cut:
    """A graph cut at its product: `rest` has the result as an input named "product", and the operations after it."""

    product: Product
    rest: Graph


def cut(graph: Graph) -> Cut:
    """Raises Unmatched where the graph has not just one product, of tensors as they are, with work behind it."""
    found = [n for n in graph.nodes if n.op in PRODUCTS]
    if len(found) != 1:
        raise Unmatched("not just one matrix product")
    (node,) = found
    bias, (left, right) = _operands(node)
    before: set[str] = set()
    product = Product(
        _factor(graph, left, before), _factor(graph, right, before), node.op == "aten.bmm.default"
    )
    result, shape = _viewed(graph, node)
    rest = [n for n in graph.nodes if n.id not in before and n.id not in (node.id, result)]
    if not rest:
        raise Unmatched("nothing but a matrix product")
    now = {result: Ref(PRODUCT), node.id: Ref(PRODUCT)}
    if bias is not None:
        added = Node(f"{node.id}_bias", "aten.add.Tensor", (Ref(PRODUCT), bias), {}, (shape,), ("float32",))
        now = dict.fromkeys(now, Ref(added.id))
        rest.insert(0, added)
    nodes = tuple(replace(n, args=_renamed(n.args, now)) for n in rest)
    inputs = (*graph.inputs, Value(PRODUCT, shape, "float32"))
    outputs = tuple(now.get(r.id, r) for r in graph.outputs)
    return Cut(product, Graph(inputs, graph.parameters, nodes, outputs))


def _operands(node: Node) -> tuple[Argument, tuple[Argument, Argument]]:
    if node.op != "aten.addmm.default":
        return None, (node.args[0], node.args[1])
    if any(literal(v) != 1 for v in node.kwargs.values()):
        raise Unmatched("a scaled product")
    return node.args[0], (node.args[1], node.args[2])


def _factor(graph: Graph, argument: Argument, passed: set[str]) -> Factor:
    """The tensor behind an operand; the nodes on the way to it are added to `passed`."""
    nodes = {n.id: n for n in graph.nodes}
    transposed = False
    while isinstance(argument, Ref) and argument.id in nodes:
        node = nodes[argument.id]
        rank = len(node.shapes[0])
        if node.op == "aten.permute.default":
            if tuple(d % rank for d in numbers(node.args[1])) != (*range(rank - 2), rank - 1, rank - 2):
                raise Unmatched("a factor permuted in another way")
            transposed = not transposed
        elif transposed or node.op not in FLATTENING or not _keeps_rows(graph, node):
            raise Unmatched("a factor that is computed")
        passed.add(node.id)
        argument = node.args[0]
    if not isinstance(argument, Ref) or _source(graph, argument).dtype != "float32":
        raise Unmatched("a factor that is not float32")
    return Factor(argument.id, transposed)


def _keeps_rows(graph: Graph, node: Node) -> bool:
    """Whether a view joins only leading dimensions of a tensor of the call into rows of a matrix."""
    of = node.args[0]
    return (
        isinstance(of, Ref)
        and len(node.shapes[0]) == 2
        and _source(graph, of).shape[-1] == node.shapes[0][-1]
    )


def _source(graph: Graph, ref: Ref) -> Value:
    found = next((v for v in (*graph.inputs, *graph.parameters) if v.id == ref.id), None)
    if found is None:
        raise Unmatched("a factor that is computed")
    return found


def _viewed(graph: Graph, node: Node) -> tuple[str, tuple[int, ...]]:
    """The name and shape of a product's result, after the view that gives its rows their dimensions back."""
    users = [n for n in graph.nodes if any(isinstance(a, Ref) and a.id == node.id for a in n.args)]
    if len(users) == 1 and users[0].op in FLATTENING and not any(r.id == node.id for r in graph.outputs):
        return users[0].id, users[0].shapes[0]
    return node.id, node.shapes[0]


def _renamed(args: tuple[Argument, ...], now: Mapping[str, Ref]) -> tuple[Argument, ...]:
    return tuple(
        now.get(a.id, a) if isinstance(a, Ref) else _renamed(a, now) if isinstance(a, tuple) else a
        for a in args
    )
