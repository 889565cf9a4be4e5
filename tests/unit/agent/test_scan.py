"""The scan template: what it fits, and that its kernels are right."""

import pytest
import torch

from agent.templates.scan import Scan
from agent.templates.template import default_of

LAYOUTS = ("contiguous", "transposed", "sliced")
SHAPES = ((4, 64), (5, 7), (1, 1), (3, 16), (2, 17), (3, 4099), (33, 40))
BLOCKS = ((2, 5, 33), (3, 40, 16), (1, 1, 1), (2, 3, 1), (2, 700, 70))

CASES = {
    "running sum of rows": (lambda x: x.cumsum(-1), SHAPES),
    "running sum of columns": (lambda x: x.cumsum(0), SHAPES),
    "running sum of the middle": (lambda x: x.cumsum(1), BLOCKS),
    "backwards": (lambda x: x.flip(1).cumsum(1).flip(1), SHAPES),
    "backwards down columns": (lambda x: x.flip(1).cumsum(1).flip(1), BLOCKS),
    "running product of rows": (lambda x: (x * 0.1 + 1).cumprod(-1), SHAPES),
    "running product of columns": (lambda x: (x * 0.1 + 1).cumprod(0), SHAPES),
    "backwards product": (lambda x: (x * 0.1 + 1).flip(1).cumprod(1).flip(1), SHAPES),
    "work before and after": (lambda x: torch.relu(torch.exp(x).cumsum(1) * 2 - 1), BLOCKS),
    "twice": (lambda x: x.cumsum(1).cumsum(1), SHAPES),
}


def source_for(graph, **changed):
    match = Scan().match({"w": graph})
    assert match is not None
    return Scan().render(match, {**default_of(Scan().choices(match)), **changed})


@pytest.mark.parametrize("name", list(CASES))
def test_kernels_are_right_for_shapes_and_layouts_never_traced(name, call, graph_of, judge):
    torch.manual_seed(0)
    reference, shapes = CASES[name]
    calls = [call(reference, [torch.randn(s)], layout) for s in shapes for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


@pytest.mark.parametrize("dim", [0, 1])
def test_every_choice_of_a_parameter_is_right(dim, call, graph_of, judge):
    calls = [call(lambda x: x.cumsum(dim), [torch.randn(s)]) for s in SHAPES]
    graph = graph_of(calls[0])
    choices = Scan().choices(Scan().match({"w": graph}))
    for parameter, values in choices.items():
        for value in values[1:]:
            judge(source_for(graph, **{parameter: value}), calls)


def test_a_mask_chooses_what_is_summed(call, graph_of, judge):
    calls = [
        call(lambda x, mask: torch.cumsum(x * mask, dim=1), [torch.randn(s), torch.rand(s) < 0.5], layout)
        for s in SHAPES
        for layout in LAYOUTS
    ]
    judge(source_for(graph_of(calls[0])), calls)


@pytest.mark.parametrize("name", ["running sum of rows", "running sum of columns"])
def test_infinities_and_nans_spread_from_where_they_are(name, call, graph_of, judge):
    x = torch.randn(40, 40)
    x[3, 5], x[7, 20], x[7, 30], x[20, 39] = float("inf"), float("inf"), float("-inf"), float("nan")
    calls = [call(CASES[name][0], [x])]
    judge(source_for(graph_of(calls[0])), calls)


def test_products_beyond_single_precision_come_back(call, graph_of, judge):
    x = torch.cat([torch.full((20,), 1e4), torch.full((40,), 1e-3), torch.zeros(3), torch.ones(9)])
    calls = [call(lambda x: x.cumprod(0), [x]), call(lambda x: x.cumprod(0), [x.flip(0)])]
    judge(source_for(graph_of(calls[0])), calls)


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: x.cumsum(0).cumsum(1),
        lambda x: x.cumsum(1).flip(1),
        lambda x: x.cumsum(1) + x.flip(1),
        lambda x: torch.softmax(x.cumsum(1), 1),
        lambda x: x + 1,
    ],
)
def test_it_leaves_other_graphs_alone(reference, call, graph_of):
    assert Scan().match({"w": graph_of(call(reference, [torch.randn(4, 4)]))}) is None
