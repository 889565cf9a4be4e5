"""The launcher in its sandbox, as the judge uses it: honest plans, and hostile ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from evaluator.device.nvidia import Monitor
from evaluator.evaluation import Verdict
from evaluator.harness.cuda import compile as cuda_compile
from evaluator.harness.cuda.plan import Argument, Kernel, Plan
from evaluator.harness.cuda.plan import digest as code_digest
from evaluator.harness.cuda.vmm import BASE, DeviceMemory
from evaluator.judge.faults import Fault
from evaluator.judge.launching import Launching, NotLifted
from evaluator.launcher import process
from sandbox.api import Limits, Profile, SandboxUnavailable, Zygote
from sandbox.local import LocalSandbox
from tests.gpu.conftest import AtAddress

N = 1 << 20
INPUT, OUTPUT = BASE, BASE + 4 * N
SOURCE = """
extern "C" __global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
extern "C" __global__ void spin(const float *x, float *y, int n) {
  volatile const float *watched = x;
  while (watched[0] != 12345.0f) {}
}
extern "C" __global__ void unaligned(const float *x, float *y, int n) {
  float4 v = *(const float4 *)((const char *)x + 4);
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
"""


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """SOURCE for this card."""
    folder = tmp_path_factory.mktemp("cubin")
    (folder / "calls.cu").write_text(SOURCE)
    major, minor = torch.cuda.get_device_capability()
    script = Path(cuda_compile.__file__)
    subprocess.run([sys.executable, str(script), f"sm_{major}{minor}a", "calls.cu"], cwd=folder, check=True)
    subprocess.run(["tar", "xf", cuda_compile.ARCHIVE], cwd=folder, check=True)
    return (folder / "calls.cu.cubin").read_bytes()


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    """A fork server with the launcher's code."""
    sandbox = LocalSandbox()
    try:
        sandbox.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot isolate hostile code: {e}")
    yield sandbox.zygote([process.__name__])
    sandbox.close()


@pytest.fixture
def memory() -> Iterator[DeviceMemory]:
    """Input and output, seen by this process, too."""
    torch.zeros(1, device="cuda")
    made = DeviceMemory(0, 8 * N)
    yield made
    made.close()


@pytest.fixture
def launching(zygote: Zygote, memory: DeviceMemory) -> Iterator[Launching]:
    """A launcher with that memory at its addresses."""
    with Monitor() as monitor:
        profile = Profile(devices=monitor.nodes(), limits=Limits(memory_bytes=16 << 30))
    made = Launching(zygote.spawn(f"{process.__name__}:main", profile), 0, timeout=3.0, start_timeout=30.0)
    made.map(memory.export(), BASE, memory.size)
    yield made
    made.close()


def seen(memory: DeviceMemory) -> tuple[torch.Tensor, torch.Tensor]:
    """Input and output here, where the driver likes to have them."""
    memory.map_anywhere()
    both = torch.as_tensor(AtAddress(memory.address, (2 * N,)), device="cuda")
    return both[:N], both[N:]


def plan(cubin_digest: str, name: str = "twice", x: int = INPUT, y: int = OUTPUT, n: int = N) -> Plan:
    """One launch over the whole input."""
    arguments = tuple(Argument(o, v.to_bytes(s, "little")) for o, v, s in ((0, x, 8), (8, y, 8), (16, n, 4)))
    kernel = Kernel(cubin_digest, name, (N // 256, 1, 1), (256, 1, 1), 0, (1, 1, 1), False, arguments)
    return Plan((kernel,), ())


def test_every_call_is_right_on_what_the_judge_lays(launching, memory, cubin, digest):
    x, y = seen(memory)
    launching.load(plan(digest), [cubin])
    for _ in range(5):
        x.normal_()
        y.fill_(float("nan"))
        torch.cuda.synchronize()
        assert 1e-6 < launching.run() < 1e-3
        assert torch.equal(y, 2 * x)


@pytest.fixture
def digest(cubin: bytes) -> str:
    """What the plan calls the code."""
    return code_digest(cubin)


@pytest.mark.parametrize("change", [{"x": 0xDEAD_0000}, {"y": BASE + (64 << 30)}, {"name": "unaligned"}])
def test_a_plan_that_reaches_outside_ends_its_own_launcher_only(
    change, launching, memory, cubin, digest, zygote
):
    launching.load(plan(digest, **change), [cubin])
    with pytest.raises(Fault) as fault:
        launching.run()
    assert fault.value.verdict is Verdict.RUNTIME_ERROR
    x, _ = seen(memory)
    assert torch.equal(x.normal_() * 0, torch.zeros_like(x))


def test_a_kernel_without_end_is_a_timeout_and_the_next_launcher_works(
    launching, memory, cubin, digest, zygote
):
    launching.load(plan(digest, "spin"), [cubin])
    with pytest.raises(Fault) as fault:
        launching.run()
    assert fault.value.verdict is Verdict.TIMEOUT
    with Monitor() as monitor:
        profile = Profile(devices=monitor.nodes(), limits=Limits(memory_bytes=16 << 30))
    second = Launching(zygote.spawn(f"{process.__name__}:main", profile), 0, timeout=5.0, start_timeout=30.0)
    second.map(memory.export(), BASE, memory.size)
    x, y = seen(memory)
    x.normal_()
    torch.cuda.synchronize()
    second.load(plan(digest), [cubin])
    assert second.run() < 1e-3
    assert torch.equal(y, 2 * x)
    second.close()


def test_code_that_is_none_is_refused(launching, digest):
    with pytest.raises(NotLifted, match="does not load its code"):
        launching.load(plan(digest), [b"\x7fELF and nothing more"])


def test_a_plan_for_another_function_is_refused(launching, cubin, digest):
    with pytest.raises(NotLifted, match="cannot be launched"):
        launching.load(plan(digest, "absent"), [cubin])
    wrong = plan(digest)
    shorter = replace(wrong.nodes[0], arguments=wrong.nodes[0].arguments[:2])
    with pytest.raises(NotLifted, match="takes other arguments"):
        launching.load(Plan((shorter,), ()), [cubin])
