"""A matrix product by the library that torch carries, with the work behind it done on blocks still in cache."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from agent.templates.cost import NOTHING, Cost
from agent.templates.elementwise import Elementwise
from agent.templates.expr import Unmatched
from agent.templates.plan import Plan, describe
from agent.templates.product import Cut, cut
from agent.templates.row_reduction import RowReduction
from agent.templates.template import Choices, Match, Parameters, Template
from evaluator.problem.graph import Graph

WHOLE = 0
"""As a number of rows: the product is made in one piece."""


class Matmul:
    """The product goes to memory of the kernel's own, a block of rows at a time; another template's loop, elementwise
    or over rows, takes it from there."""

    name = "matmul epilogue"

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """Fits one product of two tensors of the call, followed by what those templates fit."""
        try:
            cuts = {name: cut(graph) for name, graph in graphs.items()}
        except Unmatched:
            return None
        products = {c.product for c in cuts.values()}
        rests = {name: c.rest for name, c in cuts.items()}
        inner = next(
            (m for m in (t.match(rests) for t in (RowReduction(), Elementwise())) if m is not None), None
        )
        if inner is None or len(products) > 1:
            return None
        description = tuple(describe(next(iter(graphs.values()))))
        extra = sum((_cost(c) for c in cuts.values()), NOTHING)
        return replace(inner, product=next(iter(products)), description=description, extra=extra)

    def choices(self, match: Match) -> Choices:
        """The inner loop's, and the rows of a block."""
        rows = (256, 64, 1024, WHOLE) if _can_be_cut(match) else (WHOLE,)
        return {"rows": rows, **_inner(match).choices(match)}

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """The inner loop's and the product's."""
        return _inner(match).cost(match, parameters) + match.extra

    def render(self, match: Match, parameters: Parameters) -> str:
        """The source; shapes are read when it runs."""
        return _inner(match).render(match, parameters)


def _can_be_cut(match: Match) -> bool:
    """Whether rows of the product can be worked on block by block: its first axis stands for itself everywhere."""
    plan = Plan(match.program, crosswise=True)
    members = [leaf.dims for leaf in plan.leaves] + [o.dims for o in match.program.outputs]
    alone = all(0 not in dim or dim == (0,) for dims in members for dim in dims)
    rows = all(o.dims and o.dims[0] == (0,) for o in match.program.outputs)
    return alone and rows and 0 not in match.program.reduced and plan.product_axes()[:1] == ((0,),)


def _inner(match: Match) -> Template:
    return RowReduction() if match.program.reduced else Elementwise()


def _cost(of: Cut) -> Cost:
    """What a product adds: its factors, and two operations for each pair of elements."""
    shapes = {v.id: v.shape for v in (*of.rest.inputs, *of.rest.parameters)}
    left, right = (math.prod(shapes[f.source]) for f in (of.product.left, of.product.right))
    return Cost(4.0 * (left + right), 2.0 * left * of.rest.inputs[-1].shape[-1])
