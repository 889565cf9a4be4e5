"""The arena: inputs where they should lie, and every byte that was written elsewhere found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evaluator.harness.wire import Scalar, Slot
from evaluator.judge.arena import (
    POISON,
    RED_ZONE_BYTES,
    Arena,
    Input,
    TensorSpec,
    contiguous_strides,
    laid_out,
)
from evaluator.problem.contract import Layout

X = laid_out((4, 6), "float32", Layout.CONTIGUOUS)
GAPPED = laid_out((4, 6), "float32", Layout.SLICED)
Y = TensorSpec((4,), (1,), "float32")


@pytest.fixture
def values() -> list[Input]:
    return [torch.arange(24, dtype=torch.float32).view(4, 6), 2.5, torch.full((4, 6), -1.0)]


@pytest.fixture
def arena(values: list[Input]) -> Iterator[Arena]:
    """Input 0 contiguous, input 1 a number, input 2 with gaps between its rows; one output."""
    made = Arena([X, None, GAPPED], [Y])
    made.fill(values)
    yield made
    made.close()


def slot(arena: Arena, number: int) -> Slot:
    found = arena.input_slots[number]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("layout", "strides"),
    [
        (Layout.CONTIGUOUS, (12, 4, 1)),
        (Layout.TRANSPOSED, (12, 1, 3)),
        (Layout.SLICED, (21, 7, 1)),
    ],
)
def test_layouts_lie_as_their_names_say(layout: Layout, strides: tuple[int, ...]) -> None:
    assert laid_out((2, 3, 4), "float32", layout) == TensorSpec((2, 3, 4), strides, "float32")


@given(st.lists(st.integers(1, 5), max_size=4).map(tuple))
def test_contiguous_strides_are_torch_s(shape: tuple[int, ...]) -> None:
    assert contiguous_strides(shape) == torch.empty(shape).stride()


def test_a_span_reaches_from_the_first_to_the_last_element() -> None:
    assert X.span == 96
    assert GAPPED.span == 4 * (3 * 9 + 6)
    assert TensorSpec((), (), "float64").span == 8
    assert TensorSpec((3, 0), (1, 1), "int8").span == 0


def test_values_are_laid_out_and_outputs_poisoned(arena: Arena, values: list[Input]) -> None:
    for number in (0, 2):
        laid = arena.inputs[number]
        assert laid is not None
        assert torch.equal(laid, torch.as_tensor(values[number]))
    assert arena.outputs[0].isnan().all()
    assert arena.damage() == ""


def test_what_is_told_of_the_inputs_matches_their_places(arena: Arena, values: list[Input]) -> None:
    first, number, last = arena.arguments(values)
    assert first == Slot(RED_ZONE_BYTES, (4, 6), (6, 1), "float32")
    assert number == Scalar("float", 2.5)
    assert isinstance(last, Slot)
    assert last.strides == (9, 1)
    assert arena.arguments([values[0], True, values[2]])[1] == Scalar("bool", True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_what_is_read_beside_an_input_is_not_a_number(arena: Arena, dtype: torch.dtype) -> None:
    end = slot(arena, 0).offset + X.span
    assert arena.memory.bytes[end : end + 64].view(dtype).isnan().all()
    assert arena.memory.bytes[slot(arena, 0).offset - 64 : slot(arena, 0).offset].view(dtype).isnan().all()


def test_an_offset_input_starts_one_element_past_an_aligned_address() -> None:
    spec = laid_out((3, 5), "float32", Layout.OFFSET)
    with closing(Arena([spec, X], [])) as arena:
        values = [torch.randn(3, 5), torch.randn(X.shape)]
        arena.fill(values)
        assert slot(arena, 0).offset % 64 == 4
        assert slot(arena, 1).offset % 64 == 0
        assert torch.equal(torch.as_tensor(arena.inputs[0]), values[0])
        assert arena.damage() == ""


def test_writing_outputs_is_no_damage(arena: Arena) -> None:
    arena.outputs[0].fill_(7)
    assert arena.damage() == ""


def test_any_byte_of_a_red_zone_counts(arena: Arena) -> None:
    first, last, output = slot(arena, 0), slot(arena, 2), arena.output_slots[0]
    for byte in (0, first.offset - 1, first.offset + 96, last.offset - 1):
        arena.memory.bytes[byte] ^= 1
        assert f"byte {byte} of the arena, in a red zone before the outputs" in arena.damage()
        arena.memory.bytes[byte] ^= 1
    for byte in (output.offset - 1, output.offset + 16, arena.size - 1):
        arena.memory.bytes[byte] ^= 1
        assert "in a red zone around an output" in arena.damage()
        arena.memory.bytes[byte] ^= 1
    assert arena.damage() == ""


def test_a_changed_input_is_named(arena: Arena) -> None:
    changed = arena.inputs[2]
    assert changed is not None
    changed[3, 5] = 9.0
    assert arena.damage() == "input 2 was changed, which the contract does not declare"


def test_a_gap_between_an_input_s_rows_counts_as_that_input(arena: Arena) -> None:
    arena.memory.bytes[slot(arena, 2).offset + 4 * 7] ^= 1
    assert "input 2 was changed" in arena.damage()


def test_a_declared_mutation_is_spared_but_nothing_around_it(arena: Arena) -> None:
    changed = arena.inputs[2]
    assert changed is not None
    changed.fill_(3.0)
    assert "input 2" in arena.damage(mutable=[0])
    assert arena.damage(mutable=[2]) == ""
    arena.memory.bytes[slot(arena, 2).offset + 4 * 7] ^= 1
    assert arena.damage(mutable=[2]) != ""


def test_filling_again_repairs_everything(arena: Arena, values: list[Input]) -> None:
    arena.memory.bytes.zero_()
    assert arena.damage() != ""
    arena.fill(values)
    assert arena.damage() == ""
    assert int(arena.memory.bytes[arena.output_slots[0].offset]) == POISON


def test_a_mutation_does_not_outlive_the_next_filling(arena: Arena, values: list[Input]) -> None:
    changed = arena.inputs[2]
    assert changed is not None
    changed.fill_(3.0)
    arena.damage(mutable=[2])
    arena.fill(values)
    assert torch.equal(changed, torch.full((4, 6), -1.0))
    assert arena.damage() == ""


specs = st.builds(
    laid_out,
    st.lists(st.integers(1, 7), max_size=3).map(tuple),
    st.sampled_from(["float64", "float32", "bfloat16", "int16", "bool"]),
    st.sampled_from(Layout),
)


@given(st.lists(st.none() | specs, max_size=3), st.lists(specs, max_size=2))
def test_tensors_never_touch_and_red_zones_lie_between_all(
    inputs: list[TensorSpec | None], outputs: list[TensorSpec]
) -> None:
    arena = Arena(inputs, outputs)
    slots = [s for s in arena.input_slots if s is not None] + arena.output_slots
    starts = [s.start for s in inputs if s is not None] + [0] * len(outputs)
    ends = [0]
    for place, start in zip(slots, starts, strict=True):
        assert place.offset >= ends[-1] + RED_ZONE_BYTES
        assert place.offset % 64 == start * getattr(torch, place.dtype).itemsize
        ends.append(place.offset + TensorSpec(place.shape, place.strides, place.dtype).span)
    assert arena.size >= ends[-1] + RED_ZONE_BYTES
    arena.close()
