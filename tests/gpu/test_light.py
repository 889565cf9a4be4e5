"""A candidate with plain CUDA C++ beside it: built, loaded, launched, captured."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import torch

from evaluator.harness.cuda import compile as cuda_compile
from evaluator.harness.cuda import light

ROOT = Path(__file__).parents[2]
SOURCE = """
extern "C" __global__ void scale(const float *x, float *y, int n, double factor, float shift, bool negate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (negate ? -1.0f : 1.0f) * (float)(x[i] * factor) + shift;
}
extern "C" __global__ void wide(float *y) {
  extern __shared__ float tile[];
  tile[threadIdx.x + 16384] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = tile[16384 + blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A candidate's folder with scale.cu built for this card."""
    folder = tmp_path_factory.mktemp("candidate")
    (folder / "scale.cu").write_text(SOURCE)
    major, minor = torch.cuda.get_device_capability()
    command = [sys.executable, "-m", cuda_compile.__name__, f"sm_{major}{minor}a", "scale.cu"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": path}, timeout=60)
    with tarfile.open(folder / cuda_compile.ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def module(folder, monkeypatch):
    """The loaded file, as its candidate loads it."""
    monkeypatch.setitem(sys.modules, "kernelwright_cuda", light)
    (folder / "candidate.py").write_text("from kernelwright_cuda import load\nmodule = load('scale.cu')\n")
    return runpy.run_path(str(folder / "candidate.py"))["module"]


def test_numbers_are_converted_to_what_the_function_takes(module):
    x, y = torch.randn(1000, device="cuda"), torch.empty(1000, device="cuda")
    module.scale((8,), (128,), (x, y, 1000, 2.0, 0.5, True))
    torch.testing.assert_close(y, -2 * x + 0.5)


def test_more_shared_memory_than_is_there_without_asking(module):
    y = torch.empty(64, device="cuda")
    module.wide((1,), (64,), (y,), shared_mem=100 << 10)
    assert y.tolist() == list(range(63, -1, -1))


def test_it_runs_on_the_current_stream(module):
    x, y = torch.ones(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        x.mul_(3)
        module.scale(((1 << 20) // 128,), (128,), (x, y, 1 << 20, 1.0, 0.0, False))
    stream.synchronize()
    assert bool((y == 3).all())


def test_what_does_not_fit_is_named(module):
    x = torch.zeros(8, device="cuda")
    with pytest.raises(TypeError, match="takes 6 arguments, not 1"):
        module.scale((1,), (8,), (x,))
    with pytest.raises(TypeError, match="argument 1 of scale is no pointer"):
        module.scale((1,), (8,), (x, x.cpu(), 8, 1.0, 0.0, False))
    with pytest.raises(AttributeError, match="no device function 'absent'"):
        _ = module.absent
    with pytest.raises(RuntimeError, match="was not launched"):
        module.scale((1,), (4096,), (x, x, 8, 1.0, 0.0, False))
    with pytest.raises(FileNotFoundError, match="among the candidate's files"):
        light.load("other.cu")
