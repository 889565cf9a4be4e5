"""Normalisations, losses, extremes and their places: that the row-reduction template fits them and is right."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from agent.templates import TEMPLATES
from agent.templates.template import default_of

LAYOUTS = ("contiguous", "transposed", "sliced")
IMAGES = ((2, 4, 5, 6), (1, 4, 1, 1), (3, 4, 7, 7), (2, 4, 33, 16))
ROWS = ((6, 64), (5, 7), (1, 1), (2, 17), (3, 4099))


def source_for(graph, **changed):
    found = ((t, t.match({"w": graph})) for t in TEMPLATES)
    template, match = next((t, m) for t, m in found if m is not None)
    return template.render(match, {**default_of(template.choices(match)), **changed})


class Evaluated(nn.Module):
    """A batch normalisation by statistics that are not those of its input."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels).eval()
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2.0)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return F.relu(self.norm(x))


def randomised(module):
    for p in module.parameters():
        nn.init.normal_(p)
    return module


NORMS = {
    "batch, evaluated": (lambda s: Evaluated(s[1]), IMAGES),
    "group": (lambda s: randomised(nn.GroupNorm(2, 4)), IMAGES),
    "group of one": (lambda s: randomised(nn.GroupNorm(4, 4)), IMAGES[2:]),
    "group of all": (lambda s: lambda x: F.gelu(F.group_norm(x, 1)), IMAGES),
    "group of features": (lambda s: nn.GroupNorm(4, s[1]), ((6, 64), (1, 8), (5, 12))),
    "instance": (lambda s: nn.InstanceNorm2d(4), IMAGES[2:]),
    "instance with weights": (lambda s: randomised(nn.InstanceNorm2d(4, affine=True)), IMAGES[2:]),
    "root mean square": (lambda s: nn.RMSNorm(s[-1]), ROWS),
    "Frobenius": (lambda s: lambda x: x / torch.norm(x, p="fro"), ROWS),
    "L1": (lambda s: lambda x: x / torch.mean(torch.abs(x), dim=1, keepdim=True), ROWS),
}

PLACES = {
    "place of the largest in a row": lambda x: x.argmax(-1),
    "place of the least in a column": lambda x: x.argmin(0),
    "the largest and its place": lambda x: torch.max(x, dim=0),
    "the least of a row and its place": lambda x: torch.min(x, dim=-1),
    "place among all": lambda x: x.argmax(),
}

WHOLE = {
    "variance of all": (lambda x: x.var(), ROWS[:2]),
    "norm of all": (lambda x: x.norm(), ROWS),
    "extremes of all": (lambda x: (x.max(), x.min()), ROWS),
    "product of a row": (lambda x: (1 + x / 100).prod(-1), ROWS),
    "mean of the norms of rows": (lambda x: x.norm(dim=1).mean(), ROWS),
    "sum of the largest of columns": (lambda x: torch.relu(x.amax(0)).sum() * 2, ROWS),
    "flattened": (lambda x: x.view(x.shape[0], -1).sum(1), ((20, 4, 5, 6), (30, 4, 1, 7), (25, 4, 33, 16))),
    "pooled": (lambda x: F.adaptive_avg_pool2d(x, 1), IMAGES),
}


@pytest.mark.parametrize("name", list(NORMS))
def test_normalisations(name, call, graph_of, judge):
    torch.manual_seed(0)
    reference, shapes = NORMS[name]
    calls = [call(reference(s), [torch.randn(s) * 3 + 1], layout) for s in shapes for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


@pytest.mark.parametrize("name", list(PLACES))
def test_places_of_extremes(name, call, graph_of, judge):
    torch.manual_seed(0)
    inputs = [torch.randn(s) for s in ROWS] + [torch.randint(3, s).float() for s in ROWS]
    special = torch.randn(5, 33)
    special[1, 7] = special[3, 30] = special[3, 2] = float("nan")
    special[2] = float("-inf")
    calls = [call(PLACES[name], [x], layout) for x in [*inputs, special] for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls)


@pytest.mark.parametrize("name", list(WHOLE))
def test_reductions_of_everything_and_of_rows_then_all(name, call, graph_of, judge):
    torch.manual_seed(0)
    reference, shapes = WHOLE[name]
    calls = [call(reference, [torch.randn(s)], layout) for s in shapes for layout in LAYOUTS]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_a_long_row(threads, call, graph_of, judge):
    calls = [
        call(lambda x: (x - x.mean()) / x.std(), [torch.randn(n) + 3]) for n in (70_000, 999_999, 1 << 20)
    ]
    judge(source_for(graph_of(calls[0])), calls, threads)


ENTROPIES = {
    "mean": lambda x, t: F.cross_entropy(x, t),
    "sum of scaled": lambda x, t: F.cross_entropy(x * 2 + 1, t, reduction="sum"),
    "each": lambda x, t: F.cross_entropy(x, t, reduction="none"),
    "negative log-likelihood": lambda x, t: F.nll_loss(F.log_softmax(x, 1), t),
}


@pytest.mark.parametrize("name", list(ENTROPIES))
@pytest.mark.parametrize("shapes", [((6, 64), (5, 7), (3, 2), (2, 4099)), ((2, 5, 33), (3, 20, 7))])
def test_cross_entropies(name, shapes, call, graph_of, judge):
    torch.manual_seed(0)
    calls = []
    for shape in shapes:
        target = torch.randint(shape[1], (shape[0], *shape[2:]))
        ignored = target.clone()
        ignored.view(-1)[1] = -100
        calls += [
            call(ENTROPIES[name], [torch.randn(shape) * 3, t], lay)
            for t in (target, ignored)
            for lay in LAYOUTS
        ]
    judge(source_for(graph_of(calls[0])), calls, threads=2)


def test_a_smoothed_cross_entropy_for_one_number_of_classes(call, graph_of, judge):
    def smoothed(x, target):
        return F.cross_entropy(x, target, label_smoothing=0.1)

    calls = [call(smoothed, [torch.randn(n, 37), torch.randint(37, (n,))]) for n in (4, 1, 50)]
    calls[2].inputs[1][7] = -100
    judge(source_for(graph_of(calls[0])), calls)


def test_a_mask_among_the_inputs(call, graph_of, judge):
    def masked_mean(x, mask):
        kept = mask.unsqueeze(-1)
        return torch.where(kept, x, 0.0).sum(dim=1) / kept.sum(dim=1).clamp(min=1)

    def masked_sum(x, mask):
        return (x * mask.unsqueeze(-1)).sum(-1)

    for reference in (masked_mean, masked_sum):
        calls = [
            call(reference, [torch.randn(s), torch.rand(s[:2]) < 0.7], layout)
            for s in ((3, 4, 5), (2, 33, 40), (1, 1, 1), (5, 7, 17))
            for layout in LAYOUTS
        ]
        judge(source_for(graph_of(calls[0])), calls)


def test_an_index_outside_its_row_is_not_followed(call, graph_of, outputs_of):
    def of_each_row(x, index):
        return torch.gather(x.exp(), 1, index.unsqueeze(1)).squeeze(1) / x.sum(1)

    def within(x, index):
        return of_each_row(x, index.clamp(0, 7))

    source = source_for(graph_of(call(of_each_row, [torch.rand(4, 8), torch.zeros(4).long()])))
    (found,) = outputs_of(source, call(within, [torch.rand(4, 8), torch.tensor([3, 9, -1, 0])]))
    assert np.isnan(found).tolist() == [False, True, True, False]


LOSSES = {
    "mean squared": lambda a, b: F.mse_loss(a, b),
    "smooth L1": lambda a, b: F.smooth_l1_loss(a, b),
    "hinge": lambda a, b: torch.mean(torch.clamp(1 - a * b, min=0)),
    "cosine": lambda a, b: torch.mean(1 - F.cosine_similarity(a, b, dim=1)),
}


@pytest.mark.parametrize("name", list(LOSSES))
def test_losses(name, call, graph_of, judge):
    torch.manual_seed(0)
    calls = [
        call(LOSSES[name], [torch.randn(s), torch.randn(s)], lay)
        for s in ((6, 64), (5, 7), (3, 4099))
        for lay in LAYOUTS
    ]
    judge(source_for(graph_of(calls[0])), calls, threads=2)
