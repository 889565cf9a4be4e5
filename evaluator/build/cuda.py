"""CUDA C++ beside a Python candidate: compiled in the builder's sandbox, without a GPU, for a named architecture."""

from __future__ import annotations

import io
import re
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources

from evaluator.problem.candidate import Candidate
from sandbox.api import Command

ARCHIVE = "cubins.tar"
SUFFIX = ".cu"
_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")
_FUNCTION = re.compile(
    r"Compiling entry function '([^'\n]{1,1000})' for '[^'\n]*'\n"
    r"ptxas info *: Function properties for .*\n"
    r"[^\n]*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r"ptxas info *: Used (\d+) registers(?:, used \d+ barriers)?(?:, (\d+) bytes smem)?"
)


@dataclass(frozen=True)
class Resources:
    """What one thread, or block, of a device function takes, by the assembler's report. Bytes but for registers."""

    function: str
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int


def sources(candidate: Candidate) -> tuple[str, ...]:
    """The names of its CUDA C++ files."""
    return tuple(sorted(n for n in candidate.files if n.endswith(SUFFIX)))


def command(candidate: Candidate, architecture: str) -> Command:
    """The compilation of all its CUDA C++ files for a target such as sm_90a, as a command that leaves `ARCHIVE`."""
    if not _ARCHITECTURE.fullmatch(architecture):
        raise ValueError(f"{architecture!r} is no architecture such as sm_90a")
    own = {name: text.encode() for name, text in candidate.files.items()}
    module = "evaluator.harness.cuda.compile"
    return Command(
        argv=(sys.executable, "-m", module, architecture, *sources(candidate)),
        files={**own, **_compile_module()},
        collect=(ARCHIVE,),
    )


@cache
def _compile_module() -> Mapping[str, bytes]:
    """Our code for inside the sandbox, under its own name."""
    folder = resources.files("evaluator.harness.cuda")
    packages = ("evaluator", "evaluator/harness", "evaluator/harness/cuda")
    return {
        **{f"{package}/__init__.py": b"" for package in packages},
        "evaluator/harness/cuda/compile.py": (folder / "compile.py").read_bytes(),
    }


def toolchain() -> tuple[str, ...]:
    """What, besides source and architecture, decides what comes out. Raises PackageNotFoundError."""
    return tuple(f"{name} {metadata.version(name)}" for name in ("cuda-bindings", "nvidia-cuda-nvrtc"))


def cubins(archive: bytes) -> dict[str, bytes]:
    """File name → cubin, from what a build left. Raises tarfile.TarError."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        plain = [m for m in opened.getmembers() if m.isfile() and m.size <= len(archive)]
        found = {m.name: opened.extractfile(m) for m in plain}
        return {name: file.read() for name, file in found.items() if file is not None}


def resources_used(output: str) -> tuple[Resources, ...]:
    """Registers, memory and spills of every device function, from the assembler's words in a build's output."""
    return tuple(
        Resources(name, int(registers), int(shared or 0), int(stack), int(stores), int(loads))
        for name, stack, stores, loads, registers, shared in _FUNCTION.findall(output)
    )
