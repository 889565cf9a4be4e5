"""Weights and buffers: one arena that the judge owns, the same values for both sides. Runners see it, and keep
what they write to themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import torch

from evaluator.device.cpu import SharedMemory
from evaluator.harness.tensors import at
from evaluator.harness.wire import Slot, State
from evaluator.judge.arena import ALIGN, TensorSpec, contiguous_strides

CONSTANT_SPREAD = 0.25


class StateArena:
    """A state dict laid out in shared memory, contiguous, in order."""

    def __init__(self, entries: Sequence[State], read: Callable[[State], torch.Tensor]) -> None:
        position = 0
        slots = []
        for entry in entries:
            strides = contiguous_strides(entry.tensor.shape)
            slots.append(Slot(position, entry.tensor.shape, strides, entry.tensor.dtype))
            span = TensorSpec(entry.tensor.shape, strides, entry.tensor.dtype).span
            position = -(-(position + span) // ALIGN) * ALIGN
        self.names = tuple(e.name for e in entries)
        self.parameters = tuple(e.parameter for e in entries)
        self.slots = tuple(slots)
        self.memory = SharedMemory("state", position, theirs_to_write=False)
        self.tensors = [at(self.memory.bytes, s) for s in slots]
        with ExitStack() as undo:
            undo.callback(self.memory.close)
            for tensor, entry in zip(self.tensors, entries, strict=True):
                tensor.copy_(read(entry))
            undo.pop_all()

    def redraw_constants(self, generator: torch.Generator) -> tuple[str, ...]:
        """Give floating parameters and buffers that are constant (zeros, ones) varied values near them; their names.

        A candidate that leaves out a weight of ones or a running mean of zeros is right only until it is trained.
        Values keep their sign: a variance stays positive.
        """
        names = [name for name, tensor in zip(self.names, self.tensors, strict=True) if _constant(tensor)]
        for name in names:
            tensor = self.tensors[self.names.index(name)]
            noise = CONSTANT_SPREAD * torch.randn(tensor.shape, generator=generator)
            tensor.copy_(torch.where(tensor == 0, noise, tensor * noise.exp()))
        return tuple(names)

    def constants(self) -> tuple[str, ...]:
        """Names of the floating parameters and buffers of more than one element that are all equal (zeros, ones)."""
        pairs = zip(self.names, self.tensors, strict=True)
        return tuple(name for name, tensor in pairs if tensor.numel() > 1 and _constant(tensor))

    def close(self) -> None:
        """Give the memory up."""
        self.memory.close()


def _constant(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and tensor.numel() > 0 and bool((tensor == tensor.view(-1)[0]).all())
