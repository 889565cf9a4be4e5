"""One process works on a job at a time: a file lock that ends with the process, however it ends."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.errors import JobBusy


@contextmanager
def job_lock(folder: Path, job_id: str) -> Iterator[None]:
    """Hold the job. Raises JobBusy where another process holds it. `job_id` is a known job's."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{job_id}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise JobBusy(f"another process is working on job {job_id}; wait for it or stop it") from e
        yield
