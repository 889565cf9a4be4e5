"""What a sandbox writes to stdout and stderr: a memory file of fixed size, so that a flood cannot grow it."""

from __future__ import annotations

import fcntl
import mmap
import os


class BoundedOutput:
    """A sealed memory file. Writing beyond its end fails in the sandbox (EPERM); nobody has to read along."""

    def __init__(self, size: int) -> None:
        """size: bytes, rounded up to whole pages."""
        self._size = max(1, -(-size // mmap.PAGESIZE)) * mmap.PAGESIZE
        self._fd = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._fd, self._size)
        seals = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, seals)
        self._kept: tuple[bytes, bool] | None = None

    def fileno(self) -> int:
        """The descriptor, to be inherited; its file position is shared with the writer."""
        return self._fd

    def read(self) -> tuple[bytes, bool]:
        """What was written so far, and whether the end was reached."""
        if self._kept is not None:
            return self._kept
        written = min(os.lseek(self._fd, 0, os.SEEK_CUR), self._size)
        return os.pread(self._fd, written, 0), written >= self._size

    def close(self) -> None:
        """Free the file; `read` keeps answering with what was there."""
        if self._kept is None:
            self._kept = self.read()
            os.close(self._fd)
