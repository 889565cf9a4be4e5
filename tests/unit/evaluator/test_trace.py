"""The tracer: what a reference becomes as plain data."""

import json

import pytest
import torch
from torch import nn

from evaluator.harness.trace import TraceError, trace
from evaluator.problem.graph import Graph, Ref


def graph_of(call, inputs):
    parameters = dict(call.state_dict()) if isinstance(call, nn.Module) else {}
    return Graph.from_json(json.loads(json.dumps(trace(call, inputs, parameters), allow_nan=False)))


def ops(graph):
    return [node.op for node in graph.nodes]


def test_softmax_stays_one_recognisable_operation():
    graph = graph_of(lambda x: torch.softmax(x, dim=1), [torch.randn(3, 5)])
    assert ops(graph) == ["aten._softmax.default"]
    assert graph.inputs[0].id == "x0"
    assert graph.inputs[0].shape == (3, 5)
    assert graph.nodes[0].args[0] == Ref("x0")
    assert graph.nodes[0].dtypes == ("float32",)
    assert graph.outputs == (Ref("n0"),)


def test_parameters_are_named_as_in_the_state_dict_and_items_point_into_a_node():
    graph = graph_of(nn.LayerNorm(8), [torch.randn(4, 8)])
    assert [p.id for p in graph.parameters] == ["weight", "bias"]
    assert graph.nodes[0].op == "aten.native_layer_norm.default"
    assert graph.outputs == (Ref(graph.nodes[0].id, 0),)


def test_a_whole_number_is_inlined_and_ids_keep_the_place_in_the_call():
    graph = graph_of(lambda a, s, b: a * s + b, [torch.randn(4), 2, torch.randn(4)])
    assert [v.id for v in graph.inputs] == ["x0", "x2"]
    assert 2 in graph.nodes[0].args


def test_a_float_is_a_value_of_the_call_that_changes_no_dtype():
    graph = graph_of(lambda a, s: a * s, [torch.randn(4), 2.5])
    assert [(v.id, v.shape, v.dtype) for v in graph.inputs] == [
        ("x0", (4,), "float32"),
        ("x1", (), "float64"),
    ]
    assert graph.nodes[0].args == (Ref("x0"), Ref("x1"))
    assert graph.nodes[0].dtypes == ("float32",)


def test_a_float_that_must_be_a_number_is_inlined():
    graph = graph_of(lambda a, s: torch.full((4,), s) + a, [torch.randn(4), 2.5])
    assert [v.id for v in graph.inputs] == ["x0"]


def test_identities_and_dead_nodes_are_gone():
    def call(x):
        unused = torch.exp(x)
        assert unused is not None
        return x.detach().clone().contiguous() + 1

    assert ops(graph_of(call, [torch.randn(4)])) == ["aten.add.Tensor"]


def test_in_place_operations_on_temporaries_become_pure_ones():
    graph = graph_of(lambda x: (x * 2).add_(1).relu_(), [torch.randn(4)])
    assert ops(graph) == ["aten.mul.Tensor", "aten.add.Tensor", "aten.relu.default"]


def test_a_changed_argument_stays_visible():
    graph = graph_of(lambda x: x.add_(1), [torch.randn(4)])
    assert "aten.copy_.default" in ops(graph)


def test_a_scalar_constant_tensor_becomes_a_literal():
    graph = graph_of(lambda x: torch.minimum(x, torch.tensor(0.5)), [torch.randn(4)])
    assert 0.5 in graph.nodes[0].args


def test_infinite_literals_survive_strict_json():
    graph = graph_of(lambda x: x.masked_fill(x > 0, float("-inf")), [torch.randn(4)])
    assert any("-inf" in node.args or "-inf" in node.kwargs.values() for node in graph.nodes)


def test_inputs_and_parameters_are_left_alone():
    module = nn.BatchNorm1d(3)
    x = torch.randn(5, 3)
    before = {k: v.clone() for k, v in module.state_dict().items()}
    trace(module, [x], dict(module.state_dict()))
    assert all(torch.equal(v, before[k]) for k, v in module.state_dict().items())


def test_several_outputs_keep_their_order():
    graph = graph_of(lambda x: (x + 1, x), [torch.randn(4)])
    assert graph.outputs == (Ref("n0"), Ref("x0"))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x @ x,
        lambda x: 3,
    ],
)
def test_what_cannot_be_traced_is_one_short_error(call):
    with pytest.raises(TraceError) as caught:
        trace(call, [torch.randn(4, 5)], {})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
