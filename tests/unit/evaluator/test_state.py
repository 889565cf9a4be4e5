"""Weights in one arena: laid out in order, and constants among them given other values."""

from __future__ import annotations

import torch

from evaluator.harness.tensors import located
from evaluator.harness.wire import State
from evaluator.judge.state import StateArena

TENSORS = {
    "weight": torch.ones(8),
    "bias": torch.zeros(3),
    "matrix": torch.randn(4, 5).t(),
    "running_mean": torch.zeros(8),
    "count": torch.tensor(3),
    "half": torch.ones(16, dtype=torch.float16),
}
PARAMETERS = {"weight", "bias", "matrix", "half"}


def arena() -> StateArena:
    entries = [State(n, located(t), n in PARAMETERS) for n, t in TENSORS.items()]
    return StateArena(entries, lambda entry: TENSORS[entry.name])


def test_values_lie_contiguous_aligned_and_in_order() -> None:
    state = arena()
    assert state.names == tuple(TENSORS)
    for tensor, slot, original in zip(state.tensors, state.slots, TENSORS.values(), strict=True):
        assert torch.equal(tensor, original)
        assert tensor.is_contiguous()
        assert slot.offset % 64 == 0
        assert tensor.data_ptr() == state.memory.bytes.data_ptr() + slot.offset
    state.close()


def test_constant_weights_and_buffers_are_redrawn_near_their_value() -> None:
    state = arena()
    redrawn = ("weight", "bias", "half", "running_mean")
    assert set(state.redraw_constants(torch.Generator().manual_seed(1))) == set(redrawn)
    values = dict(zip(state.names, state.tensors, strict=True))
    for name in ("matrix", "count"):
        assert torch.equal(values[name], TENSORS[name])
    assert (values["weight"] > 0).all()
    for name in redrawn:
        away = values[name].float() - TENSORS[name].float()
        assert away.unique().numel() > 1
        assert away.abs().max() < 2
    state.close()


def test_the_same_seed_redraws_the_same_values() -> None:
    first, second, other = arena(), arena(), arena()
    first.redraw_constants(torch.Generator().manual_seed(5))
    second.redraw_constants(torch.Generator().manual_seed(5))
    other.redraw_constants(torch.Generator().manual_seed(6))
    assert torch.equal(first.tensors[0], second.tensors[0])
    assert not torch.equal(first.tensors[0], other.tensors[0])


def test_a_reference_without_weights_has_an_empty_state() -> None:
    state = StateArena([], lambda entry: torch.empty(0))
    assert state.names == ()
    assert state.redraw_constants(torch.Generator()) == ()
    state.close()
