"""One process works on a job at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from services.errors import JobBusy
from services.joblock import job_lock

HOLD = """
import sys, pathlib
from services.joblock import job_lock
with job_lock(pathlib.Path(sys.argv[1]), "abc"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_is_refused_until_the_holder_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(JobBusy, match="abc"), job_lock(tmp_path, "abc"):
            pass
        with job_lock(tmp_path, "other"):
            pass
        holder.kill()
        holder.wait()
    with job_lock(tmp_path, "abc"):
        pass
