"""Graphs without operations in place."""

import pytest

from agent.templates.expr import Unmatched
from agent.templates.functional import functional
from evaluator.problem.graph import Graph, Node, Ref, Value

X = Value("x0", (4,), "float32")


def node(name, op, *args):
    return Node(name, op, args, {}, ((4,),), ("float32",))


def graph(*nodes, output="n1"):
    return Graph((X,), (), nodes, (Ref(output),))


def test_later_uses_of_what_was_changed_go_to_the_result():
    plain = functional(
        graph(
            node("n0", "aten.mul.Tensor", Ref("x0"), 2),
            node("n1", "aten.add_.Scalar", Ref("n0"), 1),
            node("n2", "aten.div.Tensor", Ref("n0"), Ref("n1")),
            output="n0",
        )
    )
    assert [n.op for n in plain.nodes] == ["aten.mul.Tensor", "aten.add.Scalar", "aten.div.Tensor"]
    assert plain.nodes[2].args == (Ref("n1"), Ref("n1"))
    assert plain.outputs == (Ref("n1"),)


def test_a_copy_into_a_value_is_what_was_copied():
    plain = functional(
        graph(
            node("n0", "aten.neg.default", Ref("x0")),
            node("n1", "aten.copy_.default", Ref("n0"), Ref("x0")),
        )
    )
    assert plain.nodes[1].args == (Ref("x0"),)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("n0", "aten.neg.default", Ref("x0")), node("n1", "aten.add_.Scalar", Ref("x0"), 1)],
        [node("n0", "aten.view.default", Ref("x0"), (4,)), node("n1", "aten.add_.Scalar", Ref("n0"), 1)],
        [
            node("n0", "aten.neg.default", Ref("x0")),
            node("n1", "aten.add_.Scalar", Ref("n0"), 1),
            node("n2", "aten.view.default", Ref("n0"), (2, 2)),
        ],
    ],
)
def test_what_may_be_seen_under_another_name_is_left_alone(nodes):
    with pytest.raises(Unmatched, match="several names"):
        functional(graph(*nodes))
