"""The floor of an operation: its bytes over the machine's bandwidth."""

import dataclasses

import pytest
import torch

from agent.api import Attempt, AttemptState
from agent.floors import at_floor, bytes_touched, floors
from evaluator.evaluation import Interval


def test_inputs_that_are_used_weights_and_outputs_count(call, graph_of):
    linear = torch.nn.Linear(4, 2)
    assert bytes_touched(graph_of(call(linear, [torch.randn(3, 4)]))) == 4 * (12 + 8 + 2 + 6)


def test_an_input_that_nothing_reads_does_not_count(call, graph_of):
    graph = graph_of(call(lambda x, unused: (x + 1, x.sum()), [torch.randn(8), torch.randn(100)]))
    assert bytes_touched(graph) == 4 * (8 + 8 + 1)


def test_an_input_of_which_a_part_is_read_does_not_count(call, graph_of):
    assert bytes_touched(graph_of(call(lambda x: x[:2] + 1, [torch.randn(100, 4)]))) == 4 * 8


def test_an_output_that_is_an_input_is_not_written(call, graph_of):
    assert bytes_touched(graph_of(call(lambda x: (x, x * 2), [torch.randn(8)]))) == 4 * (8 + 8)


def test_each_workload_has_its_floor(call, graph_of):
    graphs = {n: graph_of(call(torch.relu, [torch.randn(n, 4)])) for n in (8, 16)}
    assert floors(graphs, lambda size: 1e9) == {8: 256e-9, 16: 512e-9}


@pytest.mark.parametrize(("seconds", "reached"), [(1.04, True), (1.06, False)])
def test_close_to_the_floor_is_at_it(doubles, seconds, reached):
    proposal = doubles.proposal("a", 1)
    judged = doubles.evaluation(proposal.candidate, 2.0)
    workload = dataclasses.replace(judged.timing.workloads[0], candidate=Interval(seconds, seconds, seconds))
    timing = dataclasses.replace(judged.timing, workloads=(workload,))
    attempt = Attempt(1, proposal, AttemptState.EVALUATED, dataclasses.replace(judged, timing=timing), 1)
    assert at_floor(attempt, {"w": 1.0}) is reached
    assert not at_floor(attempt, None)
    assert not at_floor(attempt, {}), "a workload that could not be traced has no floor"
