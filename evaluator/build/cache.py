"""A build cache addressed by content: what was built from what, by what, for which machine."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

SUFFIX = ".so"


class BuildCache:
    """Shared objects in a folder, named by the hash of everything that went into them.

    Entries appear whole or not at all, so no lock is needed and none can be left behind.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """The library built under `key`, or None."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, key: str, library: bytes) -> None:
        """Keep a library. Two writers of one key write the same."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as f:
                f.write(library)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / (key + SUFFIX)
