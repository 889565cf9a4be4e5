"""The C ABI of compiled candidates (`kernelwright.h`), by ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import torch

from evaluator.harness.tensors import NAMES

ABI_VERSION = 1
DTYPE_CODES = {
    name: code
    for code, name in enumerate(
        ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"), 1
    )
}


class KwTensor(ctypes.Structure):
    """struct kw_tensor"""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
    )


class KwArgs(ctypes.Structure):
    """struct kw_args"""

    _fields_ = (
        ("abi_version", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("n_inputs", ctypes.c_uint32),
        ("n_parameters", ctypes.c_uint32),
        ("n_outputs", ctypes.c_uint32),
        ("inputs", ctypes.POINTER(KwTensor)),
        ("parameters", ctypes.POINTER(KwTensor)),
        ("outputs", ctypes.POINTER(KwTensor)),
    )


def _tensor(tensor: torch.Tensor) -> KwTensor:
    sizes = (ctypes.c_int64 * max(1, tensor.dim()))(*tensor.shape)
    strides = (ctypes.c_int64 * max(1, tensor.dim()))(*tensor.stride())
    span = (
        0
        if 0 in tensor.shape
        else 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    )
    code = DTYPE_CODES[NAMES[tensor.dtype]]
    return KwTensor(tensor.data_ptr(), code, tensor.dim(), sizes, strides, span * tensor.element_size())


class Call:
    """One function of a library with its arguments in place."""

    def __init__(self, entry: str, run: Callable[..., int], arguments: KwArgs, kept: object) -> None:
        self._entry = entry
        self._run = run
        self._reference = ctypes.byref(arguments)
        self._kept = kept

    def __call__(self) -> None:
        code = self._run(self._reference)
        if code:
            raise RuntimeError(f"{self._entry} returned {code}; 0 means success")


def bind(
    library: ctypes.CDLL,
    entry: str,
    threads: int,
    inputs: Sequence[torch.Tensor],
    parameters: Sequence[torch.Tensor],
    outputs: Sequence[torch.Tensor],
) -> Call:
    """A function of no arguments that makes the call on these tensors, and keeps them alive as long as itself.

    It raises RuntimeError where the candidate returns anything but 0.
    """
    run = getattr(library, entry)
    run.restype = ctypes.c_int
    tensors = (tuple(inputs), tuple(parameters), tuple(outputs))
    groups = [(KwTensor * max(1, len(g)))(*map(_tensor, g)) for g in tensors]
    arguments = KwArgs(ABI_VERSION, threads, len(inputs), len(parameters), len(outputs), *groups)
    return Call(entry, run, arguments, tensors)
