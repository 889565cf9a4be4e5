"""What a template is: a matcher on traced graphs, a small space of parameters, a source for each choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.templates.cost import NOTHING, Cost
from agent.templates.lower import Program, lower, lower_all, reordered
from agent.templates.plan import Operand, Plan, describe
from agent.templates.product import PRODUCT, Product
from agent.templates.window import Window
from evaluator.problem.graph import Graph

Parameters = Mapping[str, int | str | bool]
Choices = Mapping[str, tuple[int | str | bool, ...]]


@dataclass(frozen=True)
class Match:
    """A problem that a template fits: its program, the sizes of the axes for each workload, and the graph it comes
    from in lines. `product` or `window`: the operation whose result the program takes, if there is one; `extra`: what
    that costs."""

    program: Program
    sizes: tuple[tuple[int, ...], ...]
    description: tuple[str, ...]
    product: Product | None = None
    window: Window | None = None
    extra: Cost = NOTHING


class Template(Protocol):
    """A parametrised expert kernel for a family of operations. It knows only the traced graph."""

    name: str

    def match(self, graphs: Mapping[str, Graph]) -> Match | None:
        """The problem as this template sees it, or None where it does not fit every workload."""
        ...

    def choices(self, match: Match) -> Choices:
        """The values of each parameter, the best guess first."""
        ...

    def cost(self, match: Match, parameters: Parameters) -> Cost:
        """A lower bound on what a call of each workload costs together."""
        ...

    def render(self, match: Match, parameters: Parameters) -> str:
        """The C++ source (entry `kernelwright_run`) for one choice of each parameter."""
        ...


def matched(graphs: Mapping[str, Graph], by_output: bool = False) -> Match:
    """The graphs as one program, with its axes in the order of the first output if `by_output`. Raises Unmatched."""
    program = lower_all(graphs)
    sizes = [lower(g).space for g in graphs.values()]
    description = tuple(describe(next(iter(graphs.values()))))
    if by_output and program.outputs:
        first = program.outputs[0].axes
        order = (*first, *(a for a in range(len(program.space)) if a not in first))
        return Match(reordered(program, order), tuple(tuple(s[a] for a in order) for s in sizes), description)
    return Match(program, tuple(sizes), description)


def default_of(choices: Choices) -> dict[str, int | str | bool]:
    """The best guess."""
    return {name: values[0] for name, values in choices.items()}


def streamed(operands: list[Operand], wide: list[bool], parameters: Parameters) -> list[str]:
    """The outputs written past the cache: the wide ones, where the parameters say so."""
    outputs = [o for o in operands if o.output]
    if parameters.get("store") != "streamed":
        return []
    return [o.name for o, is_wide in zip(outputs, wide, strict=True) if is_wide and o.along == "Along::UNIT"]


def written(output: str, place: str, value: str, streamed_outputs: list[str]) -> str:
    """The statement that writes a vector of an output."""
    cached = f"store({output} + {place}, {value}, lanes);"
    if output not in streamed_outputs:
        return cached
    return f"STREAM ? stream({output} + {place}, {value}, lanes) : {cached}"


def common(
    plan: Plan, title: str, match: Match, parameters: Parameters, steps: list[str]
) -> dict[str, object]:
    """What every source says: its head, and how its tensors lie. steps: how it goes about it, in words."""
    program = plan.program
    return {
        "title": title
        if match.product is None
        else f"A matrix product by torch's own library, and behind it: {title}",
        "description": match.description,
        "plan": steps,
        "functions": plan.functions(),
        "axes": plan.axes,
        "group_of": plan.group_of,
        "group_count": plan.groups,
        "fixed": program.fixed,
        "operands": plan.operands(),
        "slots": len(plan.operands()),
        "streamed": [],
        "cross": plan.cross,
        "segment": plan.segment,
        "segmented": [plan.names[leaf] for leaf in plan.segmented],
        "outers": [],
        "learn_outputs": False,
        "product": _product(plan, match, parameters),
    }


def _product(plan: Plan, match: Match, parameters: Parameters) -> dict[str, object] | None:
    """What the source says of a matrix product: its factors, the rows of a block, and which dimension of a tensor
    runs along them."""
    if match.product is None:
        return None
    along = [(o.tensor, dim) for o in plan.operands() for dim, axes in enumerate(o.dims) if axes == (0,)]
    factors = match.product.left, match.product.right
    left, right = ({"tensor": plan.tensor(f.source), "transposed": f.transposed} for f in factors)
    cut = [(tensor, dim) for tensor, dim in dict.fromkeys(along) if tensor != PRODUCT]
    return {
        "left": left,
        "right": right,
        "batched": match.product.batched,
        "rows": parameters["rows"],
        "cut": cut,
    }
