"""The template for permuted axes: what it fits, and that its kernels are right."""

import pytest
import torch

from agent.templates.elementwise import Elementwise
from agent.templates.template import default_of
from agent.templates.transposed import Transposed

LAYOUTS = ("contiguous", "transposed", "sliced")
SHAPES = ((2, 3, 40), (1, 1, 1), (3, 16, 16), (2, 33, 17), (1, 200, 129), (2, 5, 1))

CASES = {
    "last two axes": lambda x: x.transpose(1, 2).contiguous(),
    "first and last": lambda x: x.permute(2, 1, 0).contiguous(),
    "last to the front": lambda x: x.permute(2, 0, 1).contiguous(),
    "first to the end": lambda x: x.permute(1, 2, 0).contiguous(),
    "work on the way": lambda x: torch.exp(x.transpose(1, 2)) * 2 + 1,
}


def source_for(graph, **changed):
    match = Transposed().match({"w": graph})
    assert match is not None
    return Transposed().render(match, {**default_of(Transposed().choices(match)), **changed})


@pytest.mark.parametrize("name", list(CASES))
def test_kernels_are_right_for_shapes_and_layouts_never_traced(name, call, graph_of, judge):
    calls = [call(CASES[name], [torch.randn(s)], layout) for s in SHAPES for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


def test_tensors_of_both_orders_meet(call, graph_of, judge):
    def reference(x, y, bias):
        return torch.relu(x.transpose(1, 2)) + y * bias

    calls = [
        call(reference, [torch.randn(s), torch.randn(s[0], s[2], s[1]), torch.randn(s[1])], layout)
        for s in SHAPES
        for layout in LAYOUTS
    ]
    for store in ("cached", "streamed"):
        judge(source_for(graph_of(calls[0]), store=store), calls)


def test_a_square_matrix_and_its_transpose(call, graph_of, judge):
    calls = [call(lambda x: x.t() + x * 2, [torch.randn(n, n)]) for n in (5, 16, 70)]
    judge(source_for(graph_of(calls[0])), calls)


def test_axes_whose_last_stays_are_elementwise(call, graph_of, judge):
    calls = [call(lambda x: x.transpose(0, 1) * 2, [torch.randn(s)], lay) for s in SHAPES for lay in LAYOUTS]
    graph = graph_of(calls[0])
    assert Transposed().match({"w": graph}) is None
    match = Elementwise().match({"w": graph})
    judge(Elementwise().render(match, default_of(Elementwise().choices(match))), calls, threads=2)


@pytest.mark.parametrize(
    "reference",
    [lambda x: x + 1, lambda x: torch.softmax(x.transpose(1, 2), -1), lambda x: x.transpose(1, 2) @ x],
)
def test_it_leaves_other_graphs_alone(reference, call, graph_of):
    assert Transposed().match({"w": graph_of(call(reference, [torch.randn(4, 4, 4)]))}) is None
