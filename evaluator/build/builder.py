"""Candidates to what runners load, in sandboxes, diagnostics as data, cached by content.

Errors: InfraError where a tool is missing or the sandbox failed; a candidate that does not compile is a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata, resources

from evaluator.build import first_import, generated
from evaluator.build.cache import BuildCache
from evaluator.build.outcome import Build, outcome
from evaluator.build.tools import (
    SYSTEM_PATH,
    compiler,
    harness,
    host,
    python_environment,
    python_host,
    require_extension_tools,
)
from evaluator.canonical import digest
from evaluator.problem.candidate import Candidate
from evaluator.problem.contract import Problem
from sandbox.api import Command, Completed, Limits, Profile, Sandbox

HEADER = "kernelwright.h"
LIBRARY = "candidate.so"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", "-fdiagnostics-color=never")
MEMORY_BYTES = 4 << 30
C_ENVIRONMENT = {"PATH": SYSTEM_PATH, "LC_ALL": "C", "TMPDIR": "/tmp"}


class Builder:
    """Builds candidates on this host. Each build has a sandbox of its own, which ends with it: none can find another's
    files, wait for a lock that another left, or take another's product for its own because names are equal."""

    def __init__(self, sandbox: Sandbox, build_cache: BuildCache, cores: Sequence[int]) -> None:
        self._sandbox = sandbox
        self._cache = build_cache
        self._cores = tuple(cores)

    def build(self, candidate: Candidate, timeout: float) -> Build:
        """A C++ candidate as a shared object. Raises InfraError."""
        key = {"flags": list(FLAGS), "host": host(), "header": _header()}
        return self._cached(candidate, key, _compilation(candidate), LIBRARY, C_ENVIRONMENT, timeout)

    def imported(self, candidate: Candidate, timeout: float) -> Build | None:
        """What the first import of a Python candidate builds, as an archive for `loading.unpack`.

        None where it compiles nothing at import. Raises InfraError.
        """
        if not first_import.compiles_at_import(candidate):
            return None
        if first_import.uses_extensions(candidate):
            require_extension_tools(self._python["PATH"])
        key = {"environment": dict(self._python), "host": python_host(), "harness": _digest(harness())}
        command = first_import.command(candidate)
        return self._cached(candidate, key, command, first_import.ARCHIVE, self._python, timeout)

    def generated(
        self, problem: Problem, init: str, inputs: Sequence[generated.Example], dynamic: bool, timeout: float
    ) -> Candidate | None:
        """The code that torch.compile makes of the reference, as a candidate; None where it makes none.

        init: a module's constructor arguments, as a literal. inputs: like those of a call; all are tensors.
        dynamic: whether the code must serve other sizes than these. Raises InfraError.
        """
        command = generated.command(problem, init, inputs, dynamic)
        key = digest({"host": python_host(), "argv": list(command.argv), "files": _digest(command.files)})
        code = self._cache.get(key)
        if code is None:
            done = self._run(command, self._python, timeout)
            code = outcome(done, generated.CODE).product
            if code is None:
                return None
            self._cache.put(key, code)
        text, torch = code.decode(errors="replace"), metadata.version("torch")
        return generated.candidate(text, problem.contract.name, torch, len(inputs))

    @property
    def _python(self) -> Mapping[str, str]:
        return python_environment(len(self._cores))

    def _cached(
        self,
        candidate: Candidate,
        key: Mapping[str, object],
        command: Command,
        product: str,
        environment: Mapping[str, str],
        timeout: float,
    ) -> Build:
        name = digest({"candidate": candidate.digest, **key})
        kept = self._cache.get(name)
        if kept is not None:
            return Build(kept, (), "", 0.0, cached=True)
        build = outcome(self._run(command, environment, timeout), product)
        if build.product is not None:
            self._cache.put(name, build.product)
        return build

    def _run(self, command: Command, environment: Mapping[str, str], timeout: float) -> Completed:
        limits = Limits(memory_bytes=MEMORY_BYTES)
        profile = Profile(cores=self._cores, environment=environment, limits=limits)
        return self._sandbox.run(command, profile, timeout)


def _compilation(candidate: Candidate) -> Command:
    sources = sorted(f"./{n}" for n in candidate.files if n.endswith(".cpp"))  # no name is an option
    files = {n: t.encode() for n, t in candidate.files.items()} | {HEADER: _header().encode()}
    return Command(argv=(compiler(), *FLAGS, "-I.", *sources, "-o", LIBRARY), files=files, collect=(LIBRARY,))


def _digest(files: Mapping[str, bytes]) -> str:
    return digest({name: content.hex() for name, content in files.items()})


@cache
def _header() -> str:
    return (resources.files("evaluator.build") / HEADER).read_text()
