"""What judges that died left on an engine and in the folder for temporary files: found by name, and removed."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path

from sandbox.docker_engine import Engine

_PREFIX = "kernelwright-"
_NUMBERS = itertools.count()


def new_owner() -> str:
    """A name for what this process is about to make, that nobody else has: pid, time of birth, namespace, number."""
    return f"{_judge(os.getpid())}.{next(_NUMBERS)}"


def new_folder(owner: str) -> Path:
    """A folder of an owner's, readable by nobody else yet."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{owner}-"))


def remove_orphans(engine: Engine) -> None:
    """Remove everything whose judge is gone. Raises SandboxError."""
    for owner in engine.owners():
        if is_dead(owner):
            engine.remove_all_of(owner)
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if is_dead(folder.name.removeprefix(_PREFIX).partition("-")[0]):
            shutil.rmtree(folder, ignore_errors=True)


def is_dead(owner: str) -> bool:
    """Whether the judge of this name is known to be gone; of one in another pid namespace nothing is known."""
    judge, _, _ = owner.rpartition(".")
    pid, _, rest = judge.partition(".")
    if not pid.isdigit() or not rest.endswith(f".{_pid_namespace()}"):
        return False
    try:
        return _judge(int(pid)) != judge
    except OSError:
        return True


def _judge(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return f"{pid}.{stat.rpartition(')')[2].split()[19]}.{_pid_namespace()}"


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino
