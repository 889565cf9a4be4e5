"""C++ candidates to shared objects: g++ in a sandbox, diagnostics as data, cached by content.

Errors: InfraError where the compiler is missing or the sandbox failed; a candidate that does not compile is a value.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from evaluator.build.cache import BuildCache
from evaluator.canonical import digest
from evaluator.evaluation import InfraError
from evaluator.printable import printable
from evaluator.problem.candidate import Candidate
from sandbox.api import Command, EndKind, Limits, Profile, Sandbox

HEADER = "kernelwright.h"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", "-fdiagnostics-color=never")
MAX_DIAGNOSTICS = 20
MEMORY_BYTES = 4 << 30
_DIAGNOSTIC = re.compile(
    r"^(?:\./)?([^:\n]{1,200}):(\d{1,9}):(\d{1,9}): (fatal error|error|warning): (.{0,400}).*$", re.MULTILINE
)


@dataclass(frozen=True)
class Diagnostic:
    """One line of a compiler's complaint."""

    file: str
    line: int
    column: int
    severity: str
    message: str


@dataclass(frozen=True)
class Build:
    """The outcome of a build: a library, or why there is none."""

    library: bytes | None
    diagnostics: tuple[Diagnostic, ...]
    output: str
    seconds: float
    cached: bool
    timed_out: bool = False


class Builder:
    """Builds candidates on this host."""

    def __init__(self, sandbox: Sandbox, build_cache: BuildCache, cores: Sequence[int]) -> None:
        self._sandbox = sandbox
        self._cache = build_cache
        self._cores = tuple(cores)

    def build(self, candidate: Candidate, timeout: float) -> Build:
        """The candidate as a shared object. Raises InfraError."""
        key = digest(
            {"candidate": candidate.digest, "flags": list(FLAGS), "host": _host(), "header": _header()}
        )
        library = self._cache.get(key)
        if library is not None:
            return Build(library, (), "", 0.0, cached=True)
        build = self._compile(candidate, timeout)
        if build.library is not None:
            self._cache.put(key, build.library)
        return build

    def _compile(self, candidate: Candidate, timeout: float) -> Build:
        sources = sorted(n for n in candidate.files if n.endswith(".cpp"))
        files = {n: t.encode() for n, t in candidate.files.items()} | {HEADER: _header().encode()}
        command = Command(
            argv=(compiler(), *FLAGS, "-I.", *sources, "-o", "candidate.so"),
            files=files,
            collect=("candidate.so",),
        )
        limits = Limits(memory_bytes=MEMORY_BYTES)
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp"}
        profile = Profile(cores=self._cores, environment=environment, limits=limits)
        done = self._sandbox.run(command, profile, timeout)
        output = printable(done.output.decode(errors="replace"))
        succeeded = done.status.kind is EndKind.EXITED and done.status.code == 0
        return Build(
            library=done.files.get("candidate.so") if succeeded else None,
            diagnostics=diagnostics(output),
            output=output[-4000:],
            seconds=done.wall_seconds,
            cached=False,
            timed_out=done.timed_out,
        )


def diagnostics(output: str) -> tuple[Diagnostic, ...]:
    """The errors and warnings in a compiler's output, errors first, at most 20."""
    found = [
        Diagnostic(f, int(line), int(column), s, m) for f, line, column, s, m in _DIAGNOSTIC.findall(output)
    ]
    return tuple(sorted(found, key=lambda d: d.severity == "warning")[:MAX_DIAGNOSTICS])


def compiler() -> str:
    """The path of g++. Raises InfraError that says how to get it."""
    path = shutil.which("g++", path="/usr/bin:/usr/local/bin:/bin")
    if path is None:
        raise InfraError("g++ is not installed: C++ candidates cannot be built; install Debian's package g++")
    return path


@cache
def _host() -> str:
    """What, besides the source, decides what comes out: the compiler, and the CPU that `native` means."""
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout
    cpu = Path("/proc/cpuinfo").read_text()
    flags = re.findall(r"^(?:flags|Features|model name)\s*:.*$", cpu, re.MULTILINE)
    return digest([version, sorted(set(flags))])


@cache
def _header() -> str:
    return (resources.files("evaluator.build") / HEADER).read_text()
