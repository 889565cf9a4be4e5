"""The bound on a kernel's time: what it grows with."""

import torch
from torch.nn import functional as F  # noqa: N812

from agent.template_proposer import ordered
from agent.templates.cost import Cost
from agent.templates.elementwise import Elementwise
from agent.templates.matmul import Matmul
from agent.templates.row_reduction import RowReduction
from agent.templates.template import default_of


def cost_of(template, graph, **changed):
    match = template.match({"w": graph})
    return template.cost(match, {**default_of(template.choices(match)), **changed})


def test_the_slower_of_memory_and_arithmetic_decides_and_threads_share_the_latter():
    assert Cost(50e9, 1.0).seconds(1) == Cost(50e9, 1.0).seconds(8) == 1.0
    assert Cost(1.0, 100e9).seconds(1) == 4 * Cost(1.0, 100e9).seconds(4)


def test_one_pass_moves_every_tensor_once(call, graph_of):
    graph = graph_of(call(lambda x, b: x + b, [torch.randn(10, 20), torch.randn(20)]))
    assert cost_of(Elementwise(), graph, store="streamed").bytes == 4 * (200 + 20 + 200)


def test_a_large_output_costs_less_past_the_cache(call, graph_of):
    graph = graph_of(call(lambda x: x * 2, [torch.randn(1024, 1024)]))
    cached, streamed = (cost_of(Elementwise(), graph, store=s).bytes for s in ("cached", "streamed"))
    assert streamed < cached


def test_keeping_what_is_costly_saves_operations(call, graph_of):
    graph = graph_of(call(lambda x: torch.softmax(x, -1), [torch.randn(64, 64)]))
    kept, again = (cost_of(RowReduction(), graph, keep=k).operations for k in ("costly", "none"))
    assert kept < again


def test_a_matrix_product_adds_its_operations(call, graph_of):
    graph = graph_of(call(lambda a, b: F.relu(a @ b), [torch.randn(30, 20), torch.randn(20, 10)]))
    assert 2 * 30 * 20 * 10 < cost_of(Matmul(), graph).operations < 2.5 * 30 * 20 * 10


def test_the_order_begins_with_the_templates_own_guess_and_leaves_nothing_out(call, graph_of):
    graph = graph_of(call(lambda x: torch.softmax(x, -1), [torch.randn(64, 64)]))
    template = RowReduction()
    match = template.match({"w": graph})
    order = ordered(template, match, 1)
    size = 1
    for values in template.choices(match).values():
        size *= len(values)
    assert order[0] == default_of(template.choices(match))
    assert len({tuple(p.items()) for p in order}) == size
