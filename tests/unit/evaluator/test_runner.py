"""The runner: requests carried out on foreign code, and what it tells when that raises."""

from __future__ import annotations

import json

import pytest
import torch

from evaluator.harness.page import TEXT_BYTES
from evaluator.harness.runner import TRACEBACK_CHARACTERS, failure
from evaluator.harness.wire import Draw, Drawn, Load, Scalar, Trace, Traced, encode
from evaluator.judge.arena import TensorSpec
from evaluator.judge.faults import Fault
from evaluator.problem.graph import Graph

X = torch.arange(6.0).view(2, 3)
SPEC = TensorSpec((2, 3), (3, 1), "float32")
MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width))
        self.scale = scale
    def forward(self, x):
        return x * self.weight * self.scale
def get_init_inputs():
    return {init}
def get_inputs():
    return [torch.rand(2, 3).t(), 3, True]
"""


def loaded(local, source, entry="Model", style="module", inputs=1, states=0):
    seat = local.seat()
    seat.load(Load({"m.py": source}, "m.py", entry, style, False, 1, inputs, states, 1))
    return seat


@pytest.mark.parametrize(
    ("init", "scale"), [("[3, 2.0]", 2.0), ("[3]", 1.0), ("{'width': 3, 'scale': 4.0}", 4.0)]
)
def test_a_module_is_built_as_the_file_says_and_says_how(local, init, scale):
    seat = loaded(local, MODULE.replace("{init}", init))
    made = seat.construct("k", None, 1)
    assert made.init == init
    assert [s.name for s in made.state] == ["weight"]
    seat.bind("w", "k", [X], [SPEC], [SPEC])
    weight = seat.client.runner.instances["k"].state["weight"]
    assert torch.equal(seat.call("w", [X], []).outputs[0], X * weight.detach() * scale)


def test_the_same_seed_builds_the_same_weights(local):
    seat = loaded(local, MODULE.replace("{init}", "[3]"))
    weights = []
    for key, seed in (("a", 5), ("b", 5), ("c", 6)):
        seat.construct(key, "[3]", seed)
        weights.append(seat.client.runner.instances[key].state["weight"].detach())
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_arguments_that_are_no_literals_are_refused(local):
    seat = loaded(local, MODULE.replace("{init}", "[torch.zeros(3)]"))
    with pytest.raises(Fault, match="something other than numbers, strings and containers"):
        seat.construct("k", None, 1)


def test_what_is_no_module_is_refused(local):
    seat = loaded(local, "class Model:\n    pass\n")
    with pytest.raises(Fault, match="Model is not a"):
        seat.construct("k", "[]", 1)


def test_inputs_that_the_file_draws_follow_the_seed_and_lie_contiguous(local):
    seat = loaded(local, MODULE.replace("{init}", "[3]"))
    runner = seat.client.runner
    first, second, third = (_values(seat, seed) for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, third)
    drawn = seat.client.request(Draw(1), Drawn, 1.0).values
    assert (drawn[0].shape, drawn[0].strides) == ((3, 2), (2, 1))
    assert drawn[1:] == (Scalar("int", 3), Scalar("bool", True))
    assert runner.drawn[0].is_contiguous()


def _values(seat, seed):
    seat.client.request(Draw(seed), Drawn, 1.0)
    return seat.client.runner.drawn[0].clone()


def test_in_double_a_module_computes_in_float64_and_its_own_weights_stay(local):
    seat = loaded(local, MODULE.replace("{init}", "[3]"))
    seat.construct("k", None, 1)
    seat.bind("d", "k", [X], [SPEC], None, variant="double")
    weight = seat.client.runner.instances["k"].state["weight"].detach()
    (found,) = seat.call("d", [X], []).outputs
    assert found.dtype == torch.float64
    assert torch.equal(found, X.double() * weight.double())
    assert weight.dtype == torch.float32


def test_a_function_takes_state_where_its_parameters_say_so(local):
    source = "def run(x, weight):\n    return x * weight\n"
    seat = loaded(local, source, "run", "", states=1)
    assert seat.client.runner.takes_state
    seat.construct("k", "[]", 1)
    seat.client.runner.instances["k"].state = {"weight": torch.full((3,), 2.0)}
    seat.bind("w", "k", [X], [SPEC], [SPEC])
    assert torch.equal(seat.call("w", [X], []).outputs[0], 2 * X)


def test_a_binding_can_be_traced(local):
    seat = loaded(local, "import torch\ndef run(x):\n    return torch.softmax(x, 1)\n", "run", "functional")
    seat.construct("k", None, 1)
    seat.bind("w", "k", [X], [SPEC], [SPEC])
    traced = seat.client.request(Trace(seat.number("w")), Traced, 1.0)
    assert [n.op for n in Graph.from_json(json.loads(traced.graph)).nodes] == ["aten._softmax.default"]


def test_calls_need_no_gradients(local):
    seat = loaded(
        local,
        "def run(x):\n    assert not __import__('torch').is_grad_enabled()\n    return x + 1\n",
        "run",
        "",
    )
    seat.construct("k", None, 1)
    seat.bind("w", "k", [X], [SPEC], [SPEC])
    assert torch.equal(seat.call("w", [X], []).outputs[0], X + 1)


def test_an_entry_that_is_not_there_is_named(local):
    with pytest.raises(Fault, match="has no attribute 'Model'"):
        loaded(local, "x = 1\n")


def test_the_end_of_a_long_traceback_is_told_and_fits_the_page():
    error = ValueError("\N{PILE OF POO}\x00" * 100_000 + " the end")
    told = failure(error)
    assert told.kind == "ValueError"
    assert told.text.rstrip().endswith("the end")
    assert len(told.text) <= TRACEBACK_CHARACTERS
    assert len(json.dumps(encode(told)).encode()) <= TEXT_BYTES
