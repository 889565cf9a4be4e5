"""The template for pooling and filters per channel: what it fits, and that its kernels are right."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from agent.templates.template import default_of
from agent.templates.windowed import Windowed

LAYOUTS = ("contiguous", "transposed", "sliced")
IMAGES = ((2, 3, 8, 9), (1, 3, 7, 40), (2, 3, 33, 35), (1, 3, 5, 16))
SEQUENCES = ((2, 3, 40), (1, 3, 9), (2, 3, 129))


def filters(*args, **options):
    return lambda: nn.Conv2d(3, 3, *args, groups=3, **options)


CASES = {
    "largest": lambda: nn.MaxPool2d(2),
    "largest, overlapping": lambda: nn.MaxPool2d(3, 2, 1),
    "largest, spread": lambda: nn.MaxPool2d(3, 1, 1, dilation=2),
    "average": lambda: nn.AvgPool2d(2),
    "average, overlapping": lambda: nn.AvgPool2d(3, 2, 1),
    "average, oblong": lambda: nn.AvgPool2d((3, 2), (1, 3)),
    "filters": filters(3, padding=1),
    "filters without padding or bias": filters(3, bias=False),
    "filters, strided": filters(3, stride=2, padding=1),
    "filters, spread and oblong": filters((1, 5), padding=(0, 4), dilation=(1, 2)),
    "filters, large": filters(5, stride=3, padding=2),
    "work behind it": lambda: nn.Sequential(nn.Conv2d(3, 3, 3, padding=1, groups=3), nn.ReLU6()),
}

SEQUENCE_CASES = {
    "largest": lambda: nn.MaxPool1d(3, 2, 1),
    "average": lambda: nn.AvgPool1d(4),
    "filters": lambda: nn.Conv1d(3, 3, 5, padding=2, groups=3),
}


VOLUMES = ((2, 3, 5, 6, 20), (1, 3, 4, 4, 40), (1, 3, 9, 5, 33))
VOLUME_CASES = {
    "largest": lambda: nn.MaxPool3d(3, 2, 1),
    "average": lambda: nn.AvgPool3d(2),
    "filters": lambda: nn.Conv3d(3, 3, 3, padding=1, groups=3),
}


def source_for(graph, **changed):
    match = Windowed().match({"w": graph})
    assert match is not None
    return Windowed().render(match, {**default_of(Windowed().choices(match)), **changed})


@pytest.mark.parametrize("name", list(CASES))
def test_images(name, call, graph_of, judge):
    torch.manual_seed(0)
    calls = [call(CASES[name](), [torch.randn(s)], layout) for s in IMAGES for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


@pytest.mark.parametrize("name", list(SEQUENCE_CASES))
def test_sequences(name, call, graph_of, judge):
    torch.manual_seed(0)
    calls = [call(SEQUENCE_CASES[name](), [torch.randn(s)], layout) for s in SEQUENCES for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls)


@pytest.mark.parametrize("name", list(VOLUME_CASES))
def test_volumes(name, call, graph_of, judge):
    torch.manual_seed(0)
    calls = [call(VOLUME_CASES[name](), [torch.randn(s)], layout) for s in VOLUMES for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls)


def test_filters_that_are_an_argument_and_a_second_tensor_behind(call, graph_of, judge):
    def reference(x, weight, y):
        return F.conv2d(x, weight, padding=1, groups=3) * 0.5 + y

    calls = [
        call(reference, [torch.randn(s), torch.randn(3, 1, 3, 3), torch.randn(s)], layout)
        for s in IMAGES
        for layout in LAYOUTS
    ]
    for unroll in (1, 4):
        judge(source_for(graph_of(calls[0]), unroll=unroll), calls)


def test_a_nan_is_larger_than_all(call, graph_of, judge):
    x = torch.randn(1, 1, 9, 40)
    x[0, 0, 4, 7] = float("nan")
    x[0, 0, :3, 20:] = float("-inf")
    calls = [call(nn.MaxPool2d(3, 2, 1), [x])]
    judge(source_for(graph_of(calls[0])), calls)


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: F.max_pool2d(x, 2, ceil_mode=True),
        lambda x: F.max_pool2d(x, 2, return_indices=True),
        lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
        lambda x: F.max_pool2d(torch.relu(x), 2),
        lambda x: F.avg_pool2d(x, 2).sum(1),
        lambda x: x + 1,
    ],
)
def test_it_leaves_other_graphs_alone(reference, call, graph_of):
    assert Windowed().match({"w": graph_of(call(reference, [torch.randn(2, 3, 8, 8)]))}) is None


def test_it_leaves_convolutions_across_channels_alone(call, graph_of):
    assert Windowed().match({"w": graph_of(call(nn.Conv2d(3, 6, 3), [torch.randn(2, 3, 8, 8)]))}) is None
