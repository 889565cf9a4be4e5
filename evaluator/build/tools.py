"""The host's tools for building, and what they and the host make of a source. A tool that is missing is the
machine's fault (InfraError, with the remedy), never a candidate's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from importlib import metadata, resources
from pathlib import Path

from evaluator.canonical import digest
from evaluator.evaluation import InfraError

SYSTEM_PATH = "/usr/bin:/usr/local/bin:/bin"


def compiler() -> str:
    """The path of g++. Raises InfraError that says how to get it."""
    path = shutil.which("g++", path=SYSTEM_PATH)
    if path is None:
        raise InfraError("g++ is not installed: C++ candidates cannot be built; install Debian's package g++")
    return path


def require_extension_tools(path: str) -> None:
    """See that torch.utils.cpp_extension can build here with the programs on `path`. Raises InfraError that says what
    is missing."""
    compiler()
    if shutil.which("ninja", path=path) is None:
        raise InfraError(
            "ninja is not installed: candidates that use load_inline cannot be built; pip install ninja"
        )
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise InfraError(
            "Python.h is not installed: candidates that build Python extensions cannot be built; "
            "install Debian's package python3-dev"
        )


def search_path() -> str:
    """PATH inside a sandbox: the system's programs, then those that were installed beside this interpreter."""
    return f"{SYSTEM_PATH}:{sysconfig.get_path('scripts')}"


def python_environment(threads: int) -> Mapping[str, str]:
    """The environment of foreign Python, the same where it is built and where it runs: compilers' caches are keyed
    by parts of it."""
    return {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "MAX_JOBS": str(threads),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": "/tmp/inductor",
        "TORCH_EXTENSIONS_DIR": "/tmp/extensions",
        "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",  # each runner would compile one, built kernels or not
        "TORCHINDUCTOR_VEC_ISA_OK": "1",  # it would compile a probe per instruction set, 10 s in every runner
        "PATH": search_path(),
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "USER": "runner",
        "LC_ALL": "C.UTF-8",
    }


@cache
def host() -> str:
    """What, besides the source, decides what comes out: the compiler, and the CPU that `native` means."""
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout
    cpu = Path("/proc/cpuinfo").read_text()
    flags = re.findall(r"^(?:flags|Features|model name)\s*:.*$", cpu, re.MULTILINE)
    return digest([version, sorted(set(flags))])


@cache
def python_host() -> str:
    """As `host`, for what Python builds: the interpreter and torch besides."""
    return digest([host(), sys.version, sys.prefix, metadata.version("torch")])


@cache
def harness() -> Mapping[str, bytes]:
    """Our code for inside a sandbox as files of a working folder, for `python -m evaluator.harness.NAME`."""
    folder = resources.files("evaluator.harness")
    modules = {
        f"evaluator/harness/{f.name}": f.read_bytes() for f in folder.iterdir() if f.name.endswith(".py")
    }
    return {"evaluator/__init__.py": b"", **dict(sorted(modules.items()))}
