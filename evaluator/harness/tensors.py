"""Tensors over shared memory, and where a tensor lies."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterable

import torch

from evaluator.harness.wire import Located, Scalar, Slot

MAP_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        *("float64", "float32", "float16", "bfloat16"),
        *("int64", "int32", "int16", "int8", "uint8", "bool"),
    )
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
CONVERTED = {"double": torch.float64, "single": torch.float32}
"""Variants of a call that convert its floating inputs, and to what."""

_COMPILER_MARK = "_dynamo_"
_type = type
_data_ptr = torch.Tensor.data_ptr
_stride = torch.Tensor.stride


def map_arena(descriptor: int, size: int, shared: bool = True) -> torch.Tensor:
    """The arena behind a descriptor (which is closed) as uint8 of `size` elements, populated.

    shared: what is written here is seen by the judge; else it stays in this process.
    """
    try:
        kind = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        memory = mmap.mmap(descriptor, size, kind | MAP_POPULATE)
    finally:
        os.close(descriptor)
    return torch.frombuffer(memory, dtype=torch.uint8)


def at(arena: torch.Tensor, slot: Slot) -> torch.Tensor:
    """The tensor that `slot` names, over the arena's memory."""
    dtype = DTYPES[slot.dtype]
    span = 1 + sum((n - 1) * s for n, s in zip(slot.shape, slot.strides, strict=True))
    if 0 in slot.shape:
        return torch.empty(slot.shape, dtype=dtype)
    flat = arena[slot.offset : slot.offset + span * dtype.itemsize].view(dtype)
    return flat.as_strided(slot.shape, slot.strides)


def located(tensor: torch.Tensor, device: str = "cpu") -> Located:
    """Where a tensor lies. Raises TypeError for what is not a tensor with a known dtype in that kind of memory.

    Attributes of its own make it inexact, except those that torch.compile leaves on what it returns.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"an output is {_type(tensor).__name__}, not a torch.Tensor")
    dtype = NAMES.get(tensor.dtype)
    if dtype is None or tensor.layout is not torch.strided or tensor.device.type != device:
        raise TypeError(f"an output is {tensor.dtype}, {tensor.layout} on {tensor.device}")
    return Located(
        address=_data_ptr(tensor),
        shape=tuple(tensor.shape),
        strides=tuple(_stride(tensor)),
        dtype=dtype,
        exact=_type(tensor) is torch.Tensor
        and all(name.startswith(_COMPILER_MARK) for name in tensor.__dict__)
        and not tensor.is_conj()
        and not tensor.is_neg(),
    )


def outputs_of(result: object) -> tuple[torch.Tensor, ...]:
    """A call's result as a flat tuple of tensors: a tensor, a Python number, or a tuple, list or dict of them."""
    if isinstance(result, torch.Tensor):
        return (result,)
    if isinstance(result, (bool, int, float)):
        return (torch.tensor(result),)
    if isinstance(result, dict):
        return _flat(result.values())
    if isinstance(result, (tuple, list)):
        return _flat(result)
    raise TypeError(f"returned {_type(result).__name__}, not a tensor or a tuple of tensors")


def _flat(results: Iterable[object]) -> tuple[torch.Tensor, ...]:
    return tuple(t for r in results for t in outputs_of(r))


def argument(value: object) -> torch.Tensor | Scalar:
    """What get_inputs gave, as a tensor or a Scalar. Raises TypeError for anything else."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError(f"get_inputs gave the number {value}; only finite ones are supported")
    if isinstance(value, (bool, int, float)):
        return Scalar(_type(value).__name__, value)
    raise TypeError(f"get_inputs gave a {_type(value).__name__}; only tensors and numbers are supported")
