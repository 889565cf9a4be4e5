"""What every template's kernels have in common."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from agent.templates import TEMPLATES
from agent.templates.template import default_of

EMPTY = {
    "elementwise": (lambda x: torch.relu(x) * 2, [(4, 8)], [[(0, 8)], [(4, 0)]]),
    "row reduction": (lambda x: torch.softmax(x, -1), [(4, 8)], [[(0, 8)]]),
    "row reduction of columns": (lambda x: x.sum(0), [(4, 8)], [[(4, 0)], [(0, 8)]]),
    "scan": (lambda x: x.cumsum(1), [(4, 8)], [[(0, 8)], [(4, 0)]]),
    "transposed": (lambda x: torch.relu(x.t()), [(4, 8)], [[(0, 8)], [(4, 0)]]),
    "matmul epilogue": (
        lambda a, b: torch.relu(a @ b),
        [(4, 8), (8, 3)],
        [[(0, 8), (8, 3)], [(4, 0), (0, 3)], [(4, 8), (8, 0)]],
    ),
    "windowed": (lambda x: F.max_pool2d(x, 2), [(2, 3, 8, 8)], [[(0, 3, 8, 8)]]),
}


@pytest.mark.parametrize("name", list(EMPTY))
def test_empty_tensors(name, call, graph_of, judge):
    reference, traced, empty = EMPTY[name]
    graph = graph_of(call(reference, [torch.randn(s) for s in traced]))
    template, match = next((t, m) for t in TEMPLATES if (m := t.match({"w": graph})) is not None)
    assert name.startswith(template.name)
    source = template.render(match, default_of(template.choices(match)))
    judge(source, [call(reference, [torch.randn(s) for s in shapes]) for shapes in empty], threads=2)
