"""CUDA C++ to cubins with NVRTC, without a GPU: `python -m evaluator.harness.cuda.compile ARCHITECTURE FILE...`.

Runs inside a builder's sandbox. Each FILE.cu leaves a member FILE.cu.cubin in the archive `cubins.tar`. What the
compiler and the assembler say goes to standard output; the exit code is 1 where a file does not compile.
"""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from cuda.bindings import nvrtc

ARCHIVE = "cubins.tar"
OPTIONS = ("--std=c++17", "-default-device", "-lineinfo", "--ptxas-options=-v", "-I.")
_HEADERS = (
    *(Path(p, "nvidia", "cu13", "include") for p in sys.path if p.endswith("-packages")),
    Path("/usr/local/cuda/include"),
)


def main(architecture: str, *names: str) -> int:
    """Compile every file; 0 where all do."""
    cubins = [(n, _compiled(n, options(architecture))) for n in names]
    with tarfile.open(ARCHIVE, "w") as archive:
        for name, cubin in cubins:
            if cubin is None:
                return 1
            member = tarfile.TarInfo(f"{name}.cubin")
            member.size = len(cubin)
            archive.addfile(member, io.BytesIO(cubin))
    return 0


def options(architecture: str) -> tuple[str, ...]:
    """What the compiler is told, for a target such as sm_90a. CUDA's headers are found where they are installed."""
    headers = [f"-I{folder}" for folder in _HEADERS if folder.is_dir()]
    return (f"--gpu-architecture={architecture}", *OPTIONS, *headers)


def _compiled(name: str, options: Sequence[str]) -> bytes | None:
    status, program = nvrtc.nvrtcCreateProgram(Path(name).read_bytes(), name.encode(), 0, [], [])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    status = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])[0]
    print(_text(program), flush=True)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return None
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = bytes(size)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin


def _text(program: nvrtc.nvrtcProgram) -> str:
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.rstrip(b"\0 \n").decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
