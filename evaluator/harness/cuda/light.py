"""`kernelwright_cuda`: how a candidate calls the plain CUDA C++ that lies beside it.

    from kernelwright_cuda import load

    softmax = load("softmax.cu").softmax

    def run(x, y):
        softmax((x.shape[0],), (256,), (x, y, x.shape[1]))

Every `.cu` file of a candidate is compiled before it runs; `load` takes what was built. Functions are named as in the
source, so they are declared `extern "C" __global__`.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from cuda.bindings import driver as cu

from evaluator.harness.cuda.driver import DriverError, call, parameters

_INTEGERS: dict[int, Any] = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}
_FLOATS: dict[int, Any] = {4: ctypes.c_float, 8: ctypes.c_double}
_SHARED_LIMIT = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_WITHOUT_LEAVE = 48 << 10

Argument = torch.Tensor | int | float | bool
Dimensions = Sequence[int]


class Function:
    """A device function."""

    def __init__(self, handle: cu.CUfunction, name: str) -> None:
        self.name = name
        self._handle = handle
        self._sizes = [size for _, size in parameters(handle)]

    def __call__(
        self, grid: Dimensions, block: Dimensions, args: Sequence[Argument], shared_mem: int = 0
    ) -> None:
        """Launch it on torch's current stream.

        grid, block: one to three sizes. args: tensors (their addresses are passed) and numbers, converted to the
        parameter's size. shared_mem: bytes of dynamic shared memory. Raises TypeError where the arguments do not fit
        the parameters, RuntimeError where the launch is refused.
        """
        if len(args) != len(self._sizes):
            raise TypeError(f"{self.name} takes {len(self._sizes)} arguments, not {len(args)}")
        values = [self._converted(i, a, s) for i, (a, s) in enumerate(zip(args, self._sizes, strict=True))]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(v) for v in values])
        stream = torch.cuda.current_stream().cuda_stream
        try:
            if shared_mem > _WITHOUT_LEAVE:
                call(cu.cuFuncSetAttribute, self._handle, _SHARED_LIMIT, shared_mem)
            sizes = (*_three(grid), *_three(block))
            call(cu.cuLaunchKernel, self._handle, *sizes, shared_mem, stream, ctypes.addressof(pointers), 0)
        except DriverError as e:
            raise RuntimeError(f"{self.name} was not launched: {e.code}") from None

    def _converted(self, place: int, value: Argument, size: int) -> Any:
        if isinstance(value, torch.Tensor):
            if size != 8 or not value.is_cuda:
                raise TypeError(f"argument {place} of {self.name} is no pointer to device memory")
            return ctypes.c_uint64(value.data_ptr())
        kinds = _FLOATS if isinstance(value, float) else _INTEGERS
        if size not in kinds:
            raise TypeError(f"argument {place} of {self.name} has {size} bytes, which no number here has")
        return kinds[size](value)


class Module:
    """What a `.cu` file was compiled to. Device functions are attributes."""

    def __init__(self, cubin: bytes, name: str) -> None:
        torch.cuda.current_stream()  # torch's context, made where there was none
        torch.cuda.synchronize()
        self._name = name
        try:
            self._module = call(cu.cuModuleLoadData, cubin)
        except DriverError as e:
            raise RuntimeError(f"{name} cannot be loaded on this GPU: {e.code}") from None

    def __getattr__(self, name: str) -> Function:
        """A device function. Raises AttributeError where the file has none of that name."""
        try:
            handle = call(cu.cuModuleGetFunction, self._module, name.encode())
        except DriverError:
            raise AttributeError(
                f'{self._name} has no device function {name!r}; is it declared extern "C" __global__?'
            ) from None
        function = Function(handle, name)
        self.__dict__[name] = function
        return function


def load(name: str) -> Module:
    """The `.cu` file of that name, relative to the file that calls this. Raises FileNotFoundError."""
    beside = Path(inspect.stack()[1].filename).parent
    built = beside / f"{name}.cubin"
    if not built.is_file():
        raise FileNotFoundError(f"{name} was not built: it must be among the candidate's files")
    return Module(built.read_bytes(), name)


def _three(sizes: Dimensions) -> tuple[int, int, int]:
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, y, z
