"""Tensors over an arena, and what the runner tells of where its results lie."""

from __future__ import annotations

import os

import pytest
import torch

from evaluator.harness.tensors import DTYPES, argument, at, located, map_arena, outputs_of
from evaluator.harness.wire import Scalar, Slot


def arena(size: int = 256) -> torch.Tensor:
    return torch.zeros(size, dtype=torch.uint8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_slot_is_a_window_on_the_arena_s_bytes(dtype: str) -> None:
    memory = arena()
    size = DTYPES[dtype].itemsize
    tensor = at(memory, Slot(64, (2, 3), (3, 1), dtype))
    assert tensor.dtype == DTYPES[dtype]
    assert tensor.data_ptr() == memory.data_ptr() + 64
    tensor.fill_(1)
    assert int(memory[:64].sum()) == 0
    assert int(memory[64 + 6 * size :].sum()) == 0
    assert int((memory[64 : 64 + 6 * size] != 0).sum()) >= 6


def test_strides_leave_the_gaps_alone() -> None:
    memory = arena()
    rows = at(memory, Slot(0, (2, 3), (5, 1), "int32"))
    rows.copy_(torch.arange(1, 7, dtype=torch.int32).view(2, 3))
    assert memory.view(torch.int32)[:9].tolist() == [1, 2, 3, 0, 0, 4, 5, 6, 0]
    swapped = at(memory, Slot(0, (3, 2), (1, 5), "int32"))
    assert torch.equal(swapped, rows.t())


def test_scalars_and_empty_tensors_have_their_place() -> None:
    memory = arena()
    at(memory, Slot(8, (), (), "float64")).fill_(2.5)
    assert memory.view(torch.float64)[1].item() == 2.5
    assert at(memory, Slot(256, (4, 0), (0, 1), "float32")).shape == (4, 0)


def test_a_located_tensor_can_be_found_again() -> None:
    base = torch.arange(24, dtype=torch.int64).view(4, 6)
    found = located(base[1:, ::2])
    assert found.address == base.data_ptr() + 6 * 8
    assert (found.shape, found.strides, found.dtype, found.exact) == ((3, 3), (6, 2), "int64", True)


class Dressed(torch.Tensor):
    """A subclass, which may lie about its values."""


def test_what_is_not_a_plain_tensor_says_so() -> None:
    assert not located(torch.zeros(2).as_subclass(Dressed)).exact
    assert not located(torch.nn.Parameter(torch.zeros(2)).detach().as_subclass(torch.nn.Parameter)).exact
    marked = torch.zeros(2)
    marked.note = "own attribute"  # type: ignore[attr-defined]
    assert not located(marked).exact
    compiled = torch.zeros(2)
    compiled._dynamo_propagated_dynamic_indices = {0}  # type: ignore[attr-defined]
    assert located(compiled).exact
    assert not located(torch._neg_view(torch.zeros(2))).exact


@pytest.mark.parametrize(
    "value",
    [
        torch.zeros(2, dtype=torch.complex64),
        torch.eye(2).to_sparse(),
        torch.empty(2, device="meta"),
        [1.0],
        None,
    ],
)
def test_what_cannot_be_read_is_refused(value: torch.Tensor) -> None:
    with pytest.raises(TypeError, match="an output is"):
        located(value)


def test_results_are_flattened_in_order() -> None:
    a, b, c = torch.zeros(1), torch.ones(2), torch.ones(3)
    assert outputs_of(a) == (a,)
    assert [t.numel() for t in outputs_of((a, [b, {"x": c, "y": a}]))] == [1, 2, 3, 1]
    number, flag = outputs_of([2, True])
    assert (number.item(), number.dtype, number.shape) == (2, torch.int64, ())
    assert flag.dtype == torch.bool
    assert outputs_of(()) == ()


@pytest.mark.parametrize("result", [None, "text", (torch.zeros(1), None), {"x": object()}])
def test_a_result_of_another_kind_is_refused(result: object) -> None:
    with pytest.raises(TypeError, match="not a tensor or a tuple of tensors"):
        outputs_of(result)


def test_arguments_are_tensors_or_numbers() -> None:
    tensor = torch.zeros(1)
    assert argument(tensor) is tensor
    assert argument(True) == Scalar("bool", True)
    assert argument(3) == Scalar("int", 3)
    assert argument(0.5) == Scalar("float", 0.5)
    with pytest.raises(TypeError, match="get_inputs gave a str"):
        argument("x")


def test_an_arena_is_shared_with_its_descriptor_s_other_holders() -> None:
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, 4096)
    first = map_arena(os.dup(descriptor), 4096)
    second = map_arena(descriptor, 4096)
    first[17] = 3
    assert second[17] == 3
    with pytest.raises(OSError):
        os.fstat(descriptor)
