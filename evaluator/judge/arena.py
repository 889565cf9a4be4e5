"""The memory of one workload in one runner: inputs, outputs, and red zones between them.

    | red zone | input 0 | red zone | input 1 | red zone | ... | output 0 | red zone |

Everything lies at the same place in every round. Gaps inside a strided input, red zones and outputs are filled
with patterns; after a call everything but the outputs must be as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from evaluator.device.cpu import SharedMemory, same_bytes
from evaluator.harness.tensors import DTYPES, at
from evaluator.harness.wire import Scalar, Slot
from evaluator.problem.contract import Layout

RED_ZONE_BYTES = 4096
RED = 0x7FFF  # two bytes: NaN in every floating dtype, large in integers; who counts it in will notice
POISON = 0xFF  # NaN in every floating dtype, -1 in signed integers, True-like in bool
ALIGN = 64

Input = torch.Tensor | int | float | bool


@dataclass(frozen=True)
class TensorSpec:
    """Shape, strides in elements and dtype of a tensor to be placed, `start` elements past an aligned address."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    start: int = 0

    @property
    def span(self) -> int:
        """Bytes from the first to the last element."""
        if 0 in self.shape:
            return 0
        reach = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return reach * DTYPES[self.dtype].itemsize


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def laid_out(shape: tuple[int, ...], dtype: str, layout: Layout) -> TensorSpec:
    """The spec of an input under a layout. `sliced` pads each row by 3 elements and so breaks alignment."""
    if layout is Layout.TRANSPOSED and len(shape) >= 2:
        swapped = (*shape[:-2], shape[-1], shape[-2])
        strides = contiguous_strides(swapped)
        return TensorSpec(shape, (*strides[:-2], strides[-1], strides[-2]), dtype)
    if layout is Layout.SLICED and shape:
        strides = contiguous_strides((*shape[:-1], shape[-1] + 3))
        return TensorSpec(shape, strides, dtype)
    return TensorSpec(shape, contiguous_strides(shape), dtype, start=int(layout is Layout.OFFSET))


class Arena:
    """One shared memory with its slots."""

    def __init__(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> None:
        position = RED_ZONE_BYTES
        self.input_slots: list[Slot | None] = []
        for spec in inputs:
            if spec is None:
                self.input_slots.append(None)
                continue
            place = position + spec.start * DTYPES[spec.dtype].itemsize
            self.input_slots.append(Slot(place, spec.shape, spec.strides, spec.dtype))
            position = _aligned(place + spec.span) + RED_ZONE_BYTES
        self._outputs_at = position - RED_ZONE_BYTES
        self.output_slots: list[Slot] = []
        for spec in outputs:
            self.output_slots.append(Slot(position, spec.shape, spec.strides, spec.dtype))
            position = _aligned(position + spec.span) + RED_ZONE_BYTES
        self.memory = SharedMemory("arena", position)
        self.size = self.memory.size
        self._pristine = torch.full((self.size // 2,), RED, dtype=torch.int16).view(torch.uint8)
        for slot in self.output_slots:
            self._pristine[_extent(slot)] = POISON
        self.inputs = [None if s is None else at(self.memory.bytes, s) for s in self.input_slots]
        self.outputs = [at(self.memory.bytes, s) for s in self.output_slots]
        self._copies = [None if s is None else at(self._pristine, s) for s in self.input_slots]

    def arguments(self, values: Sequence[Input]) -> tuple[Slot | Scalar, ...]:
        """What a Bind message says of the inputs."""
        slots = zip(self.input_slots, values, strict=True)
        return tuple(s if s is not None else Scalar(type(v).__name__, v) for s, v in slots)  # type: ignore[arg-type]

    def fill(self, values: Sequence[Input]) -> None:
        """Lay fresh inputs, red zones and poison. The runner must be frozen, or not have the arena yet."""
        for copy, value in zip(self._copies, values, strict=True):
            if copy is not None:
                assert isinstance(value, torch.Tensor)
                copy.copy_(value)
        self.memory.bytes.copy_(self._pristine)

    def damage(self, mutable: Sequence[int] = ()) -> str:
        """What, outside the outputs and the inputs declared `mutable` (by index), is not as it was filled.

        An empty string where all is well; else a sentence naming an input or a red zone.
        """
        for number in mutable:
            copy, changed = self._copies[number], self.inputs[number]
            if copy is not None and changed is not None:
                copy.copy_(changed)
        position = 0
        for slot in (*self.output_slots, None):
            end = self.size if slot is None else slot.offset
            if not same_bytes(self.memory.bytes[position:end], self._pristine[position:end]):
                return self._where(position, end)
            position = end if slot is None else _extent(slot).stop
        return ""

    def _where(self, start: int, end: int) -> str:
        differs = self.memory.bytes[start:end] != self._pristine[start:end]
        first = start + int(differs.nonzero()[0])
        for number, slot in enumerate(self.input_slots):
            if slot is not None and _extent(slot).start <= first < _extent(slot).stop:
                return f"input {number} was changed, which the contract does not declare"
        side = "before the outputs" if first < self._outputs_at else "around an output"
        return f"wrote outside its tensors: byte {first} of the arena, in a red zone {side}"

    def close(self) -> None:
        """Give the memory up."""
        self.memory.close()


def _extent(slot: Slot) -> slice:
    span = TensorSpec(slot.shape, slot.strides, slot.dtype).span
    return slice(slot.offset, slot.offset + span)


def _aligned(position: int) -> int:
    return -(-position // ALIGN) * ALIGN
