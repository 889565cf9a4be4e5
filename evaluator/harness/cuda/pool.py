"""torch's memory of a call, laid into the range reserved for candidates."""

from __future__ import annotations

import ctypes

import torch

MOST_SEGMENTS = 4096


class PoolError(Exception):
    """The allocator could not be opened, or a segment not be exported."""


class Pool:
    """A torch memory pool over the part of this process's range from `base` on, `span` bytes.

    library: a path of `pool.cpp`, built. `memory` is what torch takes; it must outlive every tensor from it.
    """

    def __init__(self, library: str, base: int, span: int, device: int) -> None:
        self._library = ctypes.CDLL(library)
        self._library.kw_pool_open.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
        self._library.kw_pool_export.argtypes = [ctypes.c_uint64, ctypes.POINTER(ctypes.c_int)]
        if self._library.kw_pool_open(base, span, device):
            raise PoolError("the CUDA driver lacks virtual memory management")
        self._allocator = torch.cuda.memory.CUDAPluggableAllocator(library, "kw_pool_alloc", "kw_pool_free")
        self.memory = torch.cuda.MemPool(self._allocator.allocator())  # type: ignore[no-untyped-call]

    def segments(self) -> tuple[tuple[int, int], ...]:
        """(address, bytes) of everything that the pool holds, in order of address."""
        pairs = (ctypes.c_uint64 * (2 * MOST_SEGMENTS))()
        number = self._library.kw_pool_segments(pairs, MOST_SEGMENTS)
        if number > MOST_SEGMENTS:
            raise PoolError(f"{number} segments; at most {MOST_SEGMENTS} are possible")
        return tuple((pairs[2 * i], pairs[2 * i + 1]) for i in range(number))

    def export(self, address: int) -> int:
        """A descriptor of the segment at an address. The caller owns it."""
        descriptor = ctypes.c_int(-1)
        code = self._library.kw_pool_export(address, ctypes.byref(descriptor))
        if code:
            raise PoolError(f"the segment at {address:#x} cannot be exported: {code}")
        return descriptor.value
