"""From a traced graph to a program over one iteration space."""

import pytest
import torch

from agent.templates.expr import Unmatched
from agent.templates.lower import lower, lower_all
from agent.templates.plan import Plan


def program_of(call, graph_of, reference, *shapes):
    return lower(graph_of(call(reference, [torch.randn(s) for s in shapes])))


def test_the_space_is_that_of_the_largest_tensor(call, graph_of):
    program = program_of(call, graph_of, lambda x, b: torch.softmax(x + b, 1), (4, 8, 3), (3,))
    assert program.space == (4, 8, 3)
    assert program.reduced == (1,)
    assert [e.leaf.axes for e in program.exprs if e.leaf] == [(0, 1, 2), (2,)]


def test_a_size_of_one_is_broadcast_and_views_that_add_one_are_followed(call, graph_of):
    program = program_of(call, graph_of, lambda x, b: x * b.view(1, -1, 1), (4, 8, 3), (8,))
    assert [e.leaf.axes for e in program.exprs if e.leaf] == [(0, 1, 2), (1,)]


def test_what_no_output_needs_is_left_out(call, graph_of):
    program = program_of(call, graph_of, lambda x: torch.var_mean(x, -1)[1], (4, 8))
    assert sum(1 for e in program.exprs if e.kind == "reduce") == 1


def test_equal_expressions_are_computed_once(call, graph_of):
    program = program_of(call, graph_of, lambda x: torch.exp(x) + torch.exp(x), (4, 8))
    assert [e.name for e in program.exprs if e.kind == "op"] == ["exp", "add"]


def test_a_workload_with_sizes_of_one_says_less_and_does_not_decide(call, graph_of):
    def reference(x, y):
        return x * y

    graphs = {
        name: graph_of(call(reference, [torch.randn(s), torch.randn(t)]))
        for name, s, t in (("one", (1, 8), (1, 8)), ("many", (4, 8), (1, 8)))
    }
    leaves = [e.leaf.dims for e in lower_all(graphs).exprs if e.leaf]
    assert leaves == [((0,), (1,)), ((), (1,))]


def test_dependent_reductions_are_a_pass_each_and_the_costly_is_kept(call, graph_of):
    plan = Plan(program_of(call, graph_of, lambda x: torch.softmax(x, -1), (4, 8)))
    assert plan.passes == 2
    kept = plan.kept("costly")
    assert [plan.exprs[n].name for n in kept] == ["exp"]
    assert list(kept.values()) == [2]
    assert plan.kept("none") == {}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (lambda x: x @ x, "aten.mm"),
        (lambda x: x**2.5, "power"),
        (lambda x: x.sum(0) + x.sum(1), "reductions"),
        (lambda x: x.double() * 2, "float64"),
    ],
)
def test_what_it_does_not_know_is_named(reference, reason, call, graph_of):
    with pytest.raises(Unmatched, match=reason):
        program_of(call, graph_of, reference, (4, 4))
