"""CPU memory that judge and runner share: anonymous files, mapped and populated on both sides."""

from __future__ import annotations

import mmap
import os
from types import TracebackType

import torch

MAP_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
ALIGNMENT = mmap.PAGESIZE


class SharedMemory:
    """`size` bytes (rounded up to whole pages) of an anonymous file, mapped here as `bytes`, a uint8 tensor.

    A runner maps the same pages from a copy of `descriptor`. Raises MemoryError where the host has too little.
    """

    def __init__(self, name: str, size: int) -> None:
        self.size = max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)
        self.descriptor = os.memfd_create(f"kernelwright-{name}", os.MFD_CLOEXEC)
        try:
            os.posix_fallocate(self.descriptor, 0, self.size)
            self._map = mmap.mmap(self.descriptor, self.size, mmap.MAP_SHARED | MAP_POPULATE)
        except OSError as e:
            os.close(self.descriptor)
            raise MemoryError(f"cannot share {self.size} bytes: {e}") from e
        self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)

    def view(self) -> memoryview:
        """The mapping as a writable memoryview."""
        return memoryview(self._map)

    def close(self) -> None:
        """Give the memory up. Views that are still held keep the mapping alive."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> SharedMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()
