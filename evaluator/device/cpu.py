"""CPU memory that judge and runner share: anonymous files, mapped and populated on both sides."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
from types import TracebackType

import torch

MAP_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
ALIGNMENT = mmap.PAGESIZE
F_SEAL_FUTURE_WRITE = 0x0010
_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def sealed_file(name: str, content: bytes) -> int:
    """A descriptor of an anonymous file with that content, which nobody can change any more. The caller owns it.

    Raises OSError where the host has no room for it.
    """
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two contiguous tensors of as many bytes hold the same."""
    return bool(_memcmp(a.data_ptr(), b.data_ptr(), a.nbytes) == 0)


class SharedMemory:
    """`size` bytes (rounded up to whole pages) of an anonymous file, mapped here as `bytes`, a uint8 tensor.

    A runner maps the same pages from a copy of `descriptor`. The file is sealed: a runner that cut it short would
    end the judge at its next look. Where `theirs_to_write` is false, a runner can read it, or map a copy of its own
    to write to, but never change what others see. Raises MemoryError where the host has too little.
    """

    def __init__(self, name: str, size: int, theirs_to_write: bool = True) -> None:
        self.size = max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)
        self.descriptor = os.memfd_create(f"kernelwright-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        try:
            os.posix_fallocate(self.descriptor, 0, self.size)
            self._map = mmap.mmap(self.descriptor, self.size, mmap.MAP_SHARED | MAP_POPULATE)
            fcntl.fcntl(
                self.descriptor, fcntl.F_ADD_SEALS, seals | (0 if theirs_to_write else F_SEAL_FUTURE_WRITE)
            )
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
