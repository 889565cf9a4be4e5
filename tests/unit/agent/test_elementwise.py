"""The elementwise template: what it fits, and that its kernels are right."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from agent.templates.elementwise import Elementwise
from agent.templates.template import default_of

SPECIAL = [0.0, -0.0, 1e-40, -1e-40, 88.0, 89.0, -88.0, -103.0, 3e38, -3e38, 0.625, 0.92, 4.0, 20.0, -20.0]
EXTREME = [float("inf"), float("-inf"), float("nan")]

GROUPS = {
    "gates": lambda x: (F.relu(x), torch.sigmoid(x), F.silu(x), F.hardswish(x), F.hardsigmoid(x), F.relu6(x)),
    "curves": lambda x: (
        torch.tanh(x),
        torch.exp(x),
        torch.expm1(x),
        F.softplus(x),
        F.elu(x),
        F.selu(x),
        F.mish(x),
    ),
    "gelus": lambda x: (F.gelu(x), F.gelu(x, approximate="tanh"), torch.erf(x)),
    "roots": lambda x: (
        torch.sqrt(x.abs()),
        torch.rsqrt(x.abs()),
        torch.log(x.abs()),
        torch.log1p(x.abs()),
        x**3,
    ),
    "pieces": lambda x: (
        x.clamp(-0.3, 0.7),
        torch.where((x > 0) & (x < 1), x, x * 0.1),
        x.masked_fill(x > 0.5, 2.0),
        F.leaky_relu(x, 0.2),
        F.softsign(x),
        torch.sign(x),
        1 - x,
        -x.abs(),
    ),
}


class BiasGelu(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return F.gelu(x + self.bias)


class Scaled(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels))
        self.factor = nn.Parameter(torch.randn(1))

    def forward(self, x, y):
        return torch.sigmoid(x * self.weight.view(1, -1, 1, 1) + y) * self.factor


def source_for(graph, **changed):
    template = Elementwise()
    match = template.match({"w": graph})
    assert match is not None
    return template.render(match, {**default_of(template.choices(match)), **changed})


@pytest.mark.parametrize("name", list(GROUPS))
def test_functions_are_as_exact_as_torch_over_the_whole_range(name, call, graph_of, judge):
    torch.manual_seed(0)
    reference = GROUPS[name]
    extreme = SPECIAL + ([] if name == "gelus" else EXTREME)
    inputs = [torch.randn(1003) * scale for scale in (1e-3, 1.0, 30.0)] + [torch.tensor(extreme)]
    calls = [call(reference, [x]) for x in inputs]
    judge(source_for(graph_of(calls[1])), calls)


@pytest.mark.parametrize("store", ["cached", "streamed"])
def test_bias_and_gelu_for_shapes_never_traced(store, call, graph_of, judge):
    shapes = [(4, 64), (5, 7), (1, 1), (3, 1000), (1, 40000), (37, 16)]
    layouts = ("contiguous", "transposed", "sliced")
    calls = [call(BiasGelu(s[-1]), [torch.randn(s)], layout) for s in shapes for layout in layouts]
    judge(source_for(graph_of(calls[0]), store=store), calls, threads=2)


def test_broadcasting_along_any_axis(call, graph_of, judge):
    shapes = [(2, 3, 4, 5), (1, 1, 1, 1), (3, 8, 16, 33), (2, 5, 1, 7)]
    calls = [
        call(Scaled(s[1]), [torch.randn(s), torch.randn(s[0], 1, s[2], 1)], layout)
        for s in shapes
        for layout in ("contiguous", "transposed", "sliced")
    ]
    judge(source_for(graph_of(calls[0])), calls)


def test_an_outer_combination_of_two_vectors(call, graph_of, judge):
    def reference(x, y):
        return torch.exp(-((x[:, None] - y[None, :]) ** 2))

    calls = [call(reference, [torch.randn(n), torch.randn(m)]) for n, m in ((5, 7), (40, 33), (1, 9))]
    judge(source_for(graph_of(calls[0])), calls)


def test_a_number_among_the_arguments_is_read_in_each_call(call, graph_of, judge):
    def reference(x, scale):
        return torch.relu(x * scale)

    graph = graph_of(call(reference, [torch.randn(4, 8), 2.5]))
    scales = [torch.tensor(s, dtype=torch.float64) for s in (0.25, 4.0)]
    judge(source_for(graph), [call(reference, [torch.randn(5, 7), s]) for s in scales])


def test_a_stencil_reads_windows_of_one_tensor(call, graph_of, judge):
    def heat(u):
        middle = u[1:-1, 1:-1]
        return middle + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * middle)

    def along(u):
        return u[:, 2:] - u[:, :-2]

    for reference in (heat, along):
        calls = [
            call(reference, [torch.randn(s)], layout)
            for s in ((6, 7), (3, 3), (40, 70), (18, 129))
            for layout in ("contiguous", "transposed", "sliced")
        ]
        judge(source_for(graph_of(calls[0])), calls, threads=2)


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: x @ x,
        lambda x: x.cumsum(0),
        lambda x: x > 0,
        lambda x: x.double() + 1,
        lambda x: torch.sin(x),
        lambda x: x.t() + 1,
    ],
)
def test_it_leaves_other_graphs_alone(reference, call, graph_of):
    assert Elementwise().match({"w": graph_of(call(reference, [torch.randn(4, 4)]))}) is None


def test_the_source_says_what_it_computes(call, graph_of):
    source = source_for(graph_of(call(BiasGelu(8), [torch.randn(4, 8)])))
    assert "gelu" in source.split("#include")[0]
