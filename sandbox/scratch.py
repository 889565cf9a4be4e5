"""Scratch folders on the host, for sandboxes that cannot mount a tmpfs of their own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
import tempfile
from pathlib import Path

_PREFIX = "kernelwright-scratch-"


class ScratchFolders:
    """Makes folders below one of this process's own, and removes them whatever a sandbox left in them.

    It holds a lock on its own, which the kernel frees when the process dies: that is how others know that it may go.
    """

    def __init__(self, where: Path) -> None:
        """What judges that are gone left in the folder `where` is removed, if it can be. Raises OSError."""
        _sweep(where)
        self._base = tempfile.mkdtemp(prefix=_PREFIX, dir=where)
        self._lock = _locked(self._base)
        os.chmod(self._base, 0o711)

    def make(self, uid: int, gid: int) -> str:
        """An empty folder that belongs to this account alone. Raises OSError."""
        folder = tempfile.mkdtemp(dir=self._base)
        os.chown(folder, uid, gid)
        return folder

    def close(self) -> None:
        """Remove everything. Idempotent."""
        if self._lock is not None:
            remove(self._base)
            os.close(self._lock)
            self._lock = None


def remove(folder: str) -> None:
    """Remove a folder with all below. Nothing may run that could change it. Raises OSError.

    Folders may be nested deeper than a path may be long, and closed to their owner: each is opened, and its folders
    are moved up, until all lie side by side.
    """
    top = _open_closed(folder, None)
    try:
        while names := os.listdir(top):
            for name in names:
                _flatten(top, name)
    finally:
        os.close(top)
    os.rmdir(folder)


def _flatten(top: int, name: str) -> None:
    """Remove the entry `name`; the folders in it become entries of `top`."""
    if not _is_folder(name, top):
        os.unlink(name, dir_fd=top)
        return
    inner = _open_closed(name, top)
    try:
        for entry in os.listdir(inner):
            if _is_folder(entry, inner):
                os.close(_open_closed(entry, inner))  # who moves a folder must be able to write to it
                os.rename(entry, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(entry, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _open_closed(name: str, folder: int | None) -> int:
    """A descriptor of a folder, which is opened to its owner."""
    os.chmod(name, 0o700, dir_fd=folder)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


def _sweep(where: Path) -> None:
    for folder in where.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = _locked(str(folder)) if folder.lstat().st_uid == os.geteuid() else None
            if lock is not None:
                try:
                    remove(str(folder))
                finally:
                    os.close(lock)


def _locked(folder: str) -> int | None:
    """A descriptor that holds a folder's lock until it is closed; None where another holds it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd
