"""A call captured in one process is right, on data that it never saw, in another."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CALLS = 20

SOFTMAX = """
import torch, triton, triton.language as tl

@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < n
    value = tl.load(x + row * n + column, mask=inside, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * n + column, value / tl.sum(value, 0), mask=inside)

def call(x):
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return y
"""
COMPILED = """
import torch, torch.nn.functional as F

@torch.compile
def call(x):
    return F.layer_norm(F.gelu(x) + x, (x.shape[1],)) * torch.sigmoid(x.sum(0, keepdim=True))
"""
ADDS_UP = """
import torch, triton, triton.language as tl
from cuda.bindings import runtime

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + at % 16, tl.load(x + at, mask=at < n, other=0.0), mask=at < n)

def call(x):
    sums, result = torch.empty(16, device=x.device), torch.empty(16, device=x.device)
    stream = torch.cuda.current_stream().cuda_stream
    runtime.cudaMemsetAsync(sums.data_ptr(), 0, 64, stream)
    add[(triton.cdiv(x.numel(), 1024),)](x, sums, x.numel(), BLOCK=1024)
    runtime.cudaMemcpyAsync(
        result.data_ptr(), sums.data_ptr(), 64, runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice, stream
    )
    return result
"""
LIBRARY = """
def call(x):
    return x @ x.t()
"""
WAITS = """
def call(x):
    return x * float(x.sum())
"""
REFERENCES = {
    "softmax": lambda x: torch.softmax(x.double(), -1),
    "compiled": lambda x: (
        functional.layer_norm(functional.gelu(x.double()) + x, (x.shape[1],))
        * torch.sigmoid(x.double().sum(0, keepdim=True))
    ),
    "adds_up": lambda x: x.double().view(-1, 16).sum(0),
}
SOURCES = {"softmax": SOFTMAX, "compiled": COMPILED, "adds_up": ADDS_UP}


def captured(source: str, shape: tuple[int, ...], folder: Path, library: str):
    """What another process captured: its answer and the cubins."""
    file = folder / "candidate.py"
    file.write_text(source)
    caches = {"TRITON_CACHE_DIR": str(folder / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    command = [sys.executable, str(HERE / "capturing.py"), str(file), library, str(folder), *map(str, shape)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, check=True, timeout=200, env={**os.environ, **caches, "PYTHONPATH": path})
    answer = json.loads((folder / "answer.json").read_text())
    return answer, [p.read_bytes() for p in sorted(folder.glob("*.cubin"))]


@pytest.mark.parametrize(
    ("name", "shape"),
    [("softmax", (256, 1024)), ("softmax", (1024, 1000)), ("compiled", (1024, 1024)), ("adds_up", (128, 64))],
)
def test_a_plan_is_right_on_fresh_data(name, shape, launcher, tmp_path, pool_library):
    answer, cubins = captured(SOURCES[name], shape, tmp_path, pool_library)
    assert "plan" in answer, answer
    inputs, output = launcher.lay(answer, shape, REFERENCES[name](torch.zeros(shape)).shape)
    launcher.load(answer["plan"], cubins)
    seconds = []
    for _ in range(CALLS):
        inputs.normal_()
        output.fill_(float("nan"))
        torch.cuda.synchronize()
        seconds.append(launcher.run())
        torch.testing.assert_close(output.double(), REFERENCES[name](inputs), rtol=1e-4, atol=1e-4)
    assert 1e-6 < statistics.median(seconds) < 1e-2


@pytest.mark.parametrize(("source", "reason"), [(LIBRARY, "library's kernel"), (WAITS, "cannot be captured")])
def test_what_cannot_be_lifted_is_named_with_the_reason(source, reason, tmp_path, pool_library):
    answer, _ = captured(source, (256, 256), tmp_path, pool_library)
    assert reason in answer["reason"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"code": "f" * 64}, "code that was not sent"),
        ({"name": "another"}, "cannot be launched"),
        ({"arguments": []}, "takes other arguments"),
        ({"shared_bytes": 1 << 30}, "cannot be launched"),
        ({"block": [4096, 1, 1]}, "no graph that can run"),
    ],
)
def test_a_plan_that_does_not_fit_its_code_is_refused(change, reason, launcher, tmp_path, pool_library):
    answer, cubins = captured(SOFTMAX, (256, 1024), tmp_path, pool_library)
    launcher.lay(answer, (256, 1024), (256, 1024))
    answer["plan"]["nodes"][0].update(change)
    with pytest.raises(launcher.Refused, match=reason):
        launcher.load(answer["plan"], cubins)
