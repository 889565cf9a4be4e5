"""The template for what follows a matrix product: what it fits, and that its kernels are right."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from agent.templates.matmul import WHOLE, Matmul
from agent.templates.template import default_of

LAYOUTS = ("contiguous", "transposed", "sliced")
SIZES = ((40, 33, 17), (1, 1, 1), (7, 64, 5), (300, 20, 48), (257, 3, 1))


class Gated(nn.Module):
    def __init__(self, features, units):
        super().__init__()
        self.linear = nn.Linear(features, units)
        self.scale = nn.Parameter(torch.randn(units))

    def forward(self, x):
        return F.gelu(self.linear(x)) * self.scale


CASES = {
    "ReLU": lambda a, b: torch.relu(a @ b),
    "scale and clamp": lambda a, b: ((a @ b) * 2 - 1).clamp(-1, 3),
    "softmax": lambda a, b: torch.softmax(a @ b * 0.3, -1),
    "layer norm": lambda a, b: F.layer_norm(a @ b, (b.shape[1],)),
    "largest of rows": lambda a, b: (a @ b).amax(1),
    "sum of columns": lambda a, b: torch.tanh(a @ b).sum(0),
    "mean of all": lambda a, b: (a @ b).abs().mean(),
    "transposed factors": lambda a, b: torch.sigmoid((b.t() @ a.t()).abs()),
}


def source_for(graph, **changed):
    match = Matmul().match({"w": graph})
    assert match is not None
    return Matmul().render(match, {**default_of(Matmul().choices(match)), **changed})


@pytest.mark.parametrize("name", list(CASES))
def test_kernels_are_right_for_shapes_and_layouts_never_traced(name, call, graph_of, judge):
    torch.manual_seed(0)
    calls = [
        call(CASES[name], [torch.randn(m, k), torch.randn(k, n)], layout)
        for m, k, n in SIZES
        for layout in LAYOUTS
    ]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


@pytest.mark.parametrize("rows", [64, WHOLE])
def test_blocks_of_any_size_are_right(rows, call, graph_of, judge):
    torch.manual_seed(0)
    calls = [call(Gated(k, n), [torch.randn(m, k)], layout) for m, k, n in SIZES for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0]), rows=rows), calls, threads=2)


class Grouped(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 24)
        self.norm = nn.GroupNorm(4, 24)
        nn.init.normal_(self.norm.weight)

    def forward(self, x):
        return F.hardtanh(self.norm(self.linear(x)), -1.0, 2.0)


def test_a_normalisation_by_groups_behind_a_linear_layer(call, graph_of, judge):
    torch.manual_seed(0)
    calls = [call(Grouped(k), [torch.randn(m, k)], layout) for m, k, _ in SIZES for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0]), rows=64), calls, threads=2)


def test_rows_with_several_dimensions(call, graph_of, judge):
    calls = [
        call(Gated(9, 20), [torch.randn(s)], lay)
        for s in ((2, 5, 9), (1, 300, 9), (70, 7, 9))
        for lay in LAYOUTS
    ]
    judge(source_for(graph_of(calls[0]), rows=64), calls, threads=2)


def test_batches(call, graph_of, judge):
    calls = [
        call(
            lambda a, b: torch.softmax(torch.bmm(a, b.transpose(1, 2)), -1) * 2,
            [torch.randn(s), torch.randn(t)],
            lay,
        )
        for s, t in (((3, 5, 8), (3, 7, 8)), ((1, 90, 4), (1, 33, 4)), ((40, 6, 1), (40, 3, 1)))
        for lay in LAYOUTS
    ]
    judge(source_for(graph_of(calls[0]), rows=64), calls, threads=2)


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: x @ x,
        lambda x: torch.relu(x @ x @ x),
        lambda x: torch.relu(torch.relu(x) @ x),
        lambda x: torch.relu(x) + 1,
        lambda x: torch.cumsum(x @ x, 1),
    ],
)
def test_it_leaves_other_graphs_alone(reference, call, graph_of):
    assert Matmul().match({"w": graph_of(call(reference, [torch.randn(4, 4)]))}) is None
