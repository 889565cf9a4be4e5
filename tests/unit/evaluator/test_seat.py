"""A seat: outputs found and read whichever way they are returned, and every other form of them refused."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch

from evaluator.evaluation import Verdict
from evaluator.harness.wire import Load, Located, State
from evaluator.judge.arena import TensorSpec, contiguous_strides
from evaluator.judge.faults import Fault
from evaluator.judge.seat import MOST_BYTES
from evaluator.judge.state import StateArena
from sandbox.api import EndKind, ExitStatus, ProcessGone

SHAPE = (4, 6)
SPEC = TensorSpec(SHAPE, (6, 1), "float32")
X = torch.arange(24, dtype=torch.float32).view(SHAPE)


def seated(local, source: str, outputs=(SPEC,), style: str = "", mutable=(), inputs=None, values=None):
    """A seat with `run` of the source bound as "w"."""
    seat = local.seat()
    count = len(inputs or [SPEC])
    seat.load(
        Load({"candidate.py": "import torch\n" + source}, "candidate.py", "run", style, False, 1, count, 0, 1)
    )
    seat.construct("k", None, 1)
    seat.bind("w", "k", values or [X], inputs or [SPEC], outputs, mutable)
    return seat


def indices(*flat: int) -> torch.Tensor:
    return torch.tensor(flat)


@pytest.mark.parametrize(
    ("source", "style"),
    [
        ("def run(x):\n    return x + 1\n", "functional"),
        ("def run(x):\n    return [x + 1]\n", "functional"),
        ("def run(x):\n    return (x.t() + 1).t().contiguous()\n", "functional"),
        ("def run(x, y):\n    torch.add(x, 1, out=y)\n", "destination"),
    ],
)
def test_outputs_and_their_sample_are_read_in_every_style(local, source, style):
    seat = seated(local, source)
    assert seat.style == style
    answer = seat.call("w", [X], [indices(0, 7, 23)])
    assert torch.equal(answer.outputs[0], X + 1)
    assert answer.sampled[0].tolist() == [1, 8, 24]
    assert (answer.damage, answer.reused) == ("", "")


def test_fresh_values_lie_at_the_same_address(local):
    seat = seated(
        local,
        "seen = []\ndef run(x):\n    seen.append(x.data_ptr())\n    assert len(set(seen)) == 1\n    return x * 2\n",
    )
    for factor in (1, 2, 3):
        assert torch.equal(seat.call("w", [X * factor], [indices(1)]).outputs[0], X * factor * 2)


def test_the_reference_s_own_strides_are_as_good_as_contiguous_ones(local):
    swapped = TensorSpec(SHAPE, (1, 4), "float32")
    for source in (
        "def run(x):\n    return (x + 1).t().contiguous().t()\n",
        "def run(x):\n    return x + 1\n",
    ):
        answer = seated(local, source, [swapped]).call("w", [X], [indices(7)])
        assert torch.equal(answer.outputs[0], X + 1)
        assert answer.sampled[0].tolist() == [8]


@pytest.mark.parametrize(
    ("returned", "verdict", "words"),
    [
        ("x, x", Verdict.INCORRECT, "returned 2 outputs, the reference returns 1"),
        ("()", Verdict.INCORRECT, "returned 0 outputs"),
        ("x.sum(1)", Verdict.INCORRECT, r"shape \[4\], not \[4, 6\]"),
        ("x.double()", Verdict.INCORRECT, "is float64, not float32"),
        ("(x + 1).t().contiguous().t()", Verdict.INCORRECT, r"strides \[1, 4\], not \[6, 1\]"),
        ("x[:1].expand(4, 6)", Verdict.INCORRECT, "strides"),
        ("torch.nn.Parameter(x.clone())", Verdict.INTEGRITY, "not a plain torch.Tensor"),
        ("'text'", Verdict.RUNTIME_ERROR, "returned str"),
        ("None", Verdict.RUNTIME_ERROR, "returned NoneType"),
        ("x.to_sparse()", Verdict.RUNTIME_ERROR, "an output is"),
        ("x / 0 if False else 1 / 0", Verdict.RUNTIME_ERROR, "ZeroDivisionError"),
        ("torch.empty(1 << 50)", Verdict.RESOURCE_LIMIT, "allocate"),
    ],
)
def test_outputs_of_another_form_are_refused(local, returned, verdict, words):
    seat = seated(local, f"def run(x):\n    return {returned}\n")
    with pytest.raises(Fault, match=words) as fault:
        seat.call("w", [X], [indices(0)])
    assert fault.value.verdict is verdict


def located(**changes) -> Located:
    return replace(Located(4096, (2, 3), (3, 1), "float32", True), **changes)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"dtype": "float31"}, Verdict.INTEGRITY),
        ({"strides": (1,)}, Verdict.INTEGRITY),
        ({"shape": (-1, 3)}, Verdict.INTEGRITY),
        ({"strides": (-3, 1)}, Verdict.INTEGRITY),
        ({"shape": (0, (1 << 64) - 1)}, Verdict.INTEGRITY),
        ({"shape": (1,) * 65, "strides": (1,) * 65}, Verdict.INTEGRITY),
        ({"shape": (1 << 20, 1 << 20), "strides": (1 << 20, 1)}, Verdict.RESOURCE_LIMIT),
        ({"shape": (1 << 40, 1 << 40), "strides": (0, 0)}, Verdict.RESOURCE_LIMIT),
    ],
)
def test_a_description_that_cannot_be_true_is_the_runner_s_fault(changes, verdict, local):
    with pytest.raises(Fault) as fault:
        local.seat().check_readable([located(**changes)])
    assert fault.value.verdict is verdict


def test_all_tensors_together_may_need_what_the_contract_allows_and_no_more(local):
    seat = local.seat()
    assert seat.memory_bytes == MOST_BYTES
    seat.memory_bytes = 10 * 24
    seat.check_readable([located()] * 10)
    with pytest.raises(Fault, match="the contract allows 0 MiB") as fault:
        seat.check_readable([located()] * 11)
    assert fault.value.verdict is Verdict.RESOURCE_LIMIT


class Lying:
    """Stands for an outcome that a runner made up: the next call describes its outputs so."""

    def __init__(self, seat, **changes) -> None:
        runner = seat.client.runner
        honest = runner._outcome

        def outcome(binding: int):
            status, body = honest(binding)
            text = body.decode()
            for field, value in changes.items():
                start = text.index(f'"{field}": ') + len(field) + 4
                stop = min(i for i in (text.find(', "', start), text.find("}", start)) if i > 0)
                text = text[:start] + value + text[stop:]
            return status, text.encode()

        runner._outcome = outcome


@pytest.mark.parametrize("address", ["8", str(1 << 60), "-8", str((1 << 64) - 8)])
def test_an_address_that_cannot_be_read_is_an_integrity_fault(local, address):
    seat = seated(local, "def run(x):\n    return x + 1\n")
    Lying(seat, address=address)
    with pytest.raises(Fault, match="nothing can be read") as fault:
        seat.call("w", [X], [indices(0)])
    assert fault.value.verdict is Verdict.INTEGRITY


@pytest.mark.parametrize("stride", ["-1", str(1 << 62), str((1 << 64) - 1)])
def test_a_stride_that_does_not_matter_cannot_break_the_judge(local, stride):
    spec = TensorSpec((1, 24), (24, 1), "float32")
    seat = seated(local, "def run(x):\n    return x.reshape(1, 24) + 1\n", [spec])
    Lying(seat, strides=f"[{stride}, 1]")
    try:
        answer = seat.call("w", [X], [indices(3)])
    except Fault as fault:
        assert fault.verdict is Verdict.INTEGRITY  # noqa: PT017
    else:
        assert torch.equal(answer.outputs[0], X.reshape(1, 24) + 1)


def test_a_result_that_the_next_call_overwrites_is_noticed(local):
    keeps = seated(local, "def run(x):\n    return x + 1\n")
    reuses = seated(local, "kept = torch.empty(4, 6)\ndef run(x):\n    return torch.add(x, 1, out=kept)\n")
    for factor in (1, 2):
        assert keeps.call("w", [X * factor], [indices(0)]).reused == ""
        last = reuses.call("w", [X * factor], [indices(0)])
    assert "output 0 of the call before was overwritten" in last.reused


def test_writing_to_inputs_and_beyond_outputs_is_noticed(local):
    into = seated(local, "def run(x):\n    y = x + 1\n    x[0, 0] = 5\n    return y\n")
    assert "input 0 was changed" in into.call("w", [X], [indices(0)]).damage
    beyond = seated(
        local, "def run(x, y):\n    torch.add(x, 1, out=y)\n    y.as_strided((25,), (1,))[24] = 0\n"
    )
    assert "red zone around an output" in beyond.call("w", [X], [indices(0)]).damage


def test_changed_inputs_are_outputs_after_those_returned(local):
    gapped = TensorSpec(SHAPE, (9, 1), "float32")
    source = "def run(x):\n    x *= 2\n    return x.sum(1)\n"
    seat = seated(local, source, [TensorSpec((4,), (1,), "float32")], mutable=[0], inputs=[gapped])
    answer = seat.call("w", [X], [indices(1), indices(0, 7, 23)])
    assert torch.equal(answer.outputs[1], 2 * X)
    assert answer.sampled[1].tolist() == [0, 14, 46]
    assert answer.damage == ""
    into = seated(
        local,
        "def run(x, y):\n    x *= 2\n    torch.sum(x, 1, out=y)\n",
        [TensorSpec((4,), (1,), "float32")],
        mutable=[0],
    )
    answer = into.call("w", [X], [indices(1), indices(7)])
    assert torch.equal(answer.outputs[0], 2 * X.sum(1))
    assert answer.sampled[1].tolist() == [14]


def test_where_inputs_are_changed_nothing_need_be_returned(local):
    seat = seated(local, "def run(x):\n    x += 1\n", [], mutable=[0])
    assert torch.equal(seat.call("w", [X], [indices(3)]).outputs[0], X + 1)
    returns = seated(local, "def run(x):\n    return x.add_(1)\n", [], mutable=[0])
    with pytest.raises(Fault, match="returned 1 outputs, the reference returns 0"):
        returns.call("w", [X], [indices(3)])


def test_a_runner_that_ends_while_it_is_read_is_to_blame(local):
    seat = seated(local, "def run(x):\n    return x + 1\n")

    class EndsWhileRead(type(seat.client.process)):
        """A process that ends the moment it is looked at."""

        def read_memory_into(self, address: int, target: memoryview) -> None:
            raise ProcessGone(ExitStatus(EndKind.EXITED, 3))

    seat.client.process = EndsWhileRead()
    with pytest.raises(Fault, match="exited with status 3") as fault:
        seat.read(located(address=X.data_ptr()))
    assert fault.value.verdict is Verdict.RUNTIME_ERROR


def test_a_binding_that_is_refused_leaves_no_memory_open(local):
    seat = seated(local, "def run(x):\n    return x + 1\n")
    seat.release("w")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Fault):
        seat.bind("w", "no such instance", [X], [SPEC], [SPEC])
    seat.close()
    assert len(os.listdir("/proc/self/fd")) < before  # its page is closed, too


def test_tampering_is_told_once_by_name(local):
    seat = seated(local, "def run(x):\n    return x + 1\n")
    seat.tampered = ("time.time", "time.time", "gc.collect")
    with pytest.raises(Fault, match=r"replaced functions of its process: time\.time, gc\.collect$") as fault:
        seat.leave()
    assert fault.value.verdict is Verdict.INTEGRITY


def test_numbers_arrive_as_python_numbers(local):
    source = "def run(x, n, flag):\n    assert type(n) is int and flag is True\n    return x * n\n"
    seat = seated(local, source, inputs=[SPEC, None, None], values=[X, 3, True])
    assert torch.equal(seat.call("w", [X, 3, True], [indices(0)]).outputs[0], 3 * X)


def test_a_workload_bound_again_or_released_is_let_go(local):
    seat = seated(local, "def run(x):\n    return x + 1\n")
    first = seat.number("w")
    seat.bind("w", "k", [X], [SPEC], [SPEC])
    assert seat.number("w") != first
    assert list(seat.client.runner.bindings) == [seat.number("w")]
    seat.release("w")
    seat.release("w")
    assert seat.client.runner.bindings == {}


def test_weights_are_taken_by_name_and_shape(local):
    seat = local.seat()
    source = """
import torch
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(6))
        self.other = torch.nn.Parameter(torch.zeros(2))
    def forward(self, x):
        return x * self.weight
"""
    seat.load(Load({"candidate.py": source}, "candidate.py", "ModelNew", "module", False, 1, 1, 3, 1))
    made = seat.construct("k", "[]", 1)
    assert [(s.name, s.tensor.shape, s.parameter) for s in made.state] == [
        ("weight", (6,), True),
        ("other", (2,), True),
    ]
    values = {"weight": torch.arange(6.0), "other": torch.ones(3), "unknown": torch.ones(1)}
    entries = [s for n, t in values.items() for s in [_state(n, t)]]
    state = StateArena(entries, lambda entry: values[entry.name])
    assert seat.set_state("k", state) == ("weight",)
    seat.bind("w", "k", [X], [SPEC], [SPEC])
    assert torch.equal(seat.call("w", [X], [indices(0)]).outputs[0], X * torch.arange(6.0))
    state.close()


def _state(name: str, tensor: torch.Tensor):
    shape = tuple(tensor.shape)
    return State(name, Located(0, shape, contiguous_strides(shape), "float32", True), True)
