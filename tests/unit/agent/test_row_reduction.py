"""The row-reduction template: what it fits, and that its kernels are right."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from agent.templates.row_reduction import RowReduction
from agent.templates.template import default_of

LAYOUTS = ("contiguous", "transposed", "sliced")


class RmsNorm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight


class ChannelNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels))
        self.bias = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = ((x - mean) ** 2).mean(1, keepdim=True)
        normal = (x - mean) / torch.sqrt(variance + 1e-6)
        return normal * self.weight[:, None, None] + self.bias[:, None, None]


ROWS = ((6, 64), (5, 7), (1, 1), (3, 16), (2, 17), (3, 4099), (1, 20000))
BLOCKS = ((3, 5, 7), (1, 1, 1), (3, 16, 16), (2, 17, 33), (2, 100, 200), (2, 3, 4099), (2, 40, 1), (2, 1, 5))
IMAGES = ((2, 3, 4, 5), (1, 64, 7, 7), (2, 16, 33, 1), (2, 1, 3, 3))

CASES = {
    "softmax": (lambda s: lambda x: torch.softmax(x, -1), ROWS),
    "softmax along dim 1": (lambda s: lambda x: torch.softmax(x, 1), BLOCKS),
    "log-softmax with work around it": (lambda s: lambda x: torch.log_softmax(F.gelu(x), -1) * 2 + 1, ROWS),
    "layer norm": (lambda s: nn.LayerNorm(s[1:]), ROWS),
    "layer norm over images": (lambda s: nn.LayerNorm(s[1:]), IMAGES),
    "RMS norm": (lambda s: RmsNorm(s[-1]), ROWS),
    "channel norm": (lambda s: ChannelNorm(s[1]), IMAGES),
    "RMS norm along dim 1": (
        lambda s: lambda x: x / torch.sqrt((x**2).mean(1, keepdim=True) + 1e-5),
        BLOCKS,
    ),
    "sum along dim 1": (lambda s: lambda x: x.sum(1), BLOCKS),
    "extremes along dim 1": (lambda s: lambda x: (x.amax(1), x.amin(1, keepdim=True)), BLOCKS),
    "largest of a row": (lambda s: lambda x: torch.max(x, dim=-1)[0], ROWS),
    "standard deviation": (lambda s: lambda x: x.std(0, keepdim=True, unbiased=False), ROWS),
    "mean square of everything": (lambda s: lambda x: (x**2).mean(), ROWS),
    "logsumexp": (lambda s: lambda x: torch.logsumexp(x, 1), ROWS),
    "L2 normalisation": (lambda s: lambda x: F.normalize(x, dim=1), ROWS),
}


def matched(graphs):
    match = RowReduction().match(graphs)
    assert match is not None
    return match, RowReduction().choices(match)


@pytest.mark.parametrize("name", list(CASES))
def test_kernels_are_right_for_shapes_and_layouts_never_traced(name, call, graph_of, judge):
    torch.manual_seed(0)
    reference, shapes = CASES[name]
    calls = [call(reference(s), [torch.randn(s) * 3 + 1], layout) for s in shapes for layout in LAYOUTS]
    match, choices = matched({"w": graph_of(calls[0])})
    judge(RowReduction().render(match, default_of(choices)), calls, threads=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "softmax along dim 1", "channel norm"])
def test_every_choice_of_a_parameter_is_right(name, call, graph_of, judge):
    reference, shapes = CASES[name]
    calls = [call(reference(s), [torch.randn(s)]) for s in shapes]
    match, choices = matched({"w": graph_of(calls[0])})
    for parameter, values in choices.items():
        for value in values[1:]:
            judge(RowReduction().render(match, {**default_of(choices), parameter: value}), calls)


def test_masked_rows_and_enlarged_values(call, graph_of, judge):
    def reference(x, mask):
        return torch.softmax(x.masked_fill(mask > 0, float("-inf")), -1)

    inputs = [
        [torch.randn(4, n) * scale, torch.randn(4, n) - 1] for n in (9, 100) for scale in (1e-3, 1.0, 1e4)
    ]
    inputs[0][1][2] = 1.0
    calls = [call(reference, i) for i in inputs]
    match, choices = matched({"w": graph_of(calls[1])})
    judge(RowReduction().render(match, default_of(choices)), calls)


def test_long_sums_keep_their_precision(call, graph_of, judge):
    calls = [call(lambda x: x.sum(-1), [torch.rand(2, n)]) for n in (8, 1 << 20)]
    match, choices = matched({"w": graph_of(calls[0])})
    judge(RowReduction().render(match, default_of(choices)), calls)


def test_one_source_serves_all_workloads(call, graph_of):
    def graph(*shape):
        return graph_of(call(lambda x: torch.softmax(x, -1), [torch.randn(*shape)]))

    match, choices = matched({"small": graph(4, 8), "large": graph(16, 1000), "flat": graph(1, 8)})
    alone, _ = matched({"small": graph(4, 8)})
    rendered = [RowReduction().render(m, default_of(choices)) for m in (match, alone)]
    assert rendered[0] == rendered[1]


def test_workloads_that_differ_in_structure_do_not_match(call, graph_of):
    one = graph_of(call(lambda x: torch.softmax(x, -1), [torch.randn(4, 8)]))
    other = graph_of(call(lambda x: torch.softmax(x * 2, -1), [torch.randn(4, 8)]))
    assert RowReduction().match({"a": one, "b": other}) is None


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: x + 1,
        lambda x: x.mean((0, 2)),
        lambda x: x.sum(0).sum(-1),
        lambda x: x.cumsum(1),
        lambda x: torch.softmax(x @ x, -1),
        lambda x: x.sum(-1) > 0,
    ],
)
def test_it_leaves_other_graphs_alone(reference, call, graph_of):
    assert RowReduction().match({"w": graph_of(call(reference, [torch.randn(4, 4, 4)]))}) is None
