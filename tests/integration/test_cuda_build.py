"""CUDA C++ compiled for a named architecture inside the sandbox, on a machine without a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evaluator.build import cuda
from evaluator.build.outcome import Build, outcome
from evaluator.problem.candidate import Candidate, Language
from sandbox.api import Limits, Profile, Sandbox, SandboxUnavailable
from sandbox.local import LocalSandbox

pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed")

MAIN = {"candidate.py": "from kernelwright_cuda import load\nrun = load('scale.cu').scale\n"}
SCALE = """
#include <cuda_fp16.h>
extern "C" __global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __half2float(__float2half(x[i])) * 2.0f;
}
"""
STAGED = """
#include "sizes.h"
extern "C" __global__ void staged(const float *x, float *y) {
  __shared__ float tile[TILE];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[TILE - 1 - threadIdx.x];
}
"""
BROKEN = 'extern "C" __global__ void broken(float *x) {\n  x[0] = undeclared;\n}\n'


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = LocalSandbox()
    try:
        sandbox.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot isolate hostile code: {e}")
    yield sandbox
    sandbox.close()


def built(sandbox: Sandbox, **files: str) -> Build:
    named = {n.replace("_cu", ".cu").replace("_h", ".h"): t for n, t in files.items()}
    candidate = Candidate({**MAIN, **named}, Language.PYTHON)
    done = sandbox.run(cuda.command(candidate, "sm_90a"), Profile(limits=Limits(memory_bytes=4 << 30)), 60)
    return outcome(done, cuda.ARCHIVE)


def test_every_file_becomes_a_cubin_for_the_architecture(sandbox):
    build = built(sandbox, scale_cu=SCALE, staged_cu=STAGED, sizes_h="#define TILE 256\n")
    assert build.product is not None, build.output
    cubins = cuda.cubins(build.product)
    assert sorted(cubins) == ["scale.cu.cubin", "staged.cu.cubin"]
    for cubin in cubins.values():
        assert cubin[:4] == b"\x7fELF"
        assert int.from_bytes(cubin[18:20], "little") == 190  # the machine number of NVIDIA's GPUs


def test_what_functions_take_is_told_by_the_assembler(sandbox):
    build = built(sandbox, scale_cu=SCALE, staged_cu=STAGED, sizes_h="#define TILE 256\n")
    used = {r.function: r for r in cuda.resources_used(build.output)}
    assert used["staged"].shared_bytes == 1024
    assert used["scale"].shared_bytes == 0
    assert all(0 < r.registers < 64 and r.spill_store_bytes == 0 for r in used.values())


def test_what_does_not_compile_says_where(sandbox):
    build = built(sandbox, broken_cu=BROKEN)
    assert build.product is None
    first = build.diagnostics[0]
    assert (first.file, first.line, first.severity) == ("broken.cu", 2, "error")
    assert "undeclared" in first.message


def test_an_architecture_that_is_none_is_refused():
    candidate = Candidate({**MAIN, "scale.cu": SCALE}, Language.PYTHON)
    with pytest.raises(ValueError, match="sm_90a"):
        cuda.command(candidate, "sm_90a --include=/etc/passwd")
