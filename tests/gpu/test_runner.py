"""A candidate with weights from its source to a call elsewhere: loaded, bound, called and captured in the runner's
sandbox, run in the launcher's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
import torch

from evaluator.device.nvidia import Monitor
from evaluator.harness import wire
from evaluator.harness.cuda import messages, plan, runner
from evaluator.harness.cuda.vmm import BASE, SPAN, DeviceMemory
from evaluator.judge.launching import Launching
from evaluator.launcher import process
from sandbox.api import Limits, Process, Profile, SandboxUnavailable
from sandbox.local import LocalSandbox
from tests.gpu.conftest import AtAddress

ROWS, COLUMNS = 512, 1000
STATE_AT, ARENA_AT, POOL_AT = BASE, BASE + (1 << 30), BASE + (8 << 30)
BYTES = 4 * ROWS * COLUMNS
SOURCE = """
import torch, triton, triton.language as tl

@triton.jit
def rms_norm(x, weight, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < n
    value = tl.load(x + row * n + column, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(value * value, 0) / n + 1e-6)
    gain = tl.load(weight + column, mask=inside, other=0.0)
    tl.store(y + row * n + column, value * scale * gain, mask=inside)

class ModelNew(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(n))

    def forward(self, x):
        y = torch.empty_like(x)
        rms_norm[(x.shape[0],)](x, self.weight, y, x.shape[1], BLOCK=1024)
        return y
"""
ENVIRONMENT = {
    "TRITON_CACHE_DIR": "/tmp/triton",
    "TORCHINDUCTOR_CACHE_DIR": "/tmp/inductor",
    "PATH": "/usr/local/cuda/bin:/usr/bin:/bin",
    "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
    "USER": "runner",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LocalSandbox]:
    made = LocalSandbox()
    try:
        made.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot isolate hostile code: {e}")
    yield made
    made.close()


@pytest.fixture
def profile() -> Profile:
    with Monitor() as monitor:
        limits = Limits(memory_bytes=32 << 30, processes=256)
        return Profile(devices=monitor.nodes(), limits=limits, environment=ENVIRONMENT)


def ask(process: Process, message: object, *files: int) -> tuple[object, list[int]]:
    """A request and its reply."""
    process.channel.send(wire.encode(message), files)
    data, descriptors = process.channel.receive(120)
    replies = (
        *(wire.Done, wire.Constructed, wire.Matched, wire.Outcome, wire.Failed),
        *(messages.Captured, messages.Unliftable, messages.Exported),
    )
    reply = messages.SCHEMA.decode(data, *replies)
    assert not isinstance(reply, (wire.Failed, messages.Unliftable)), reply
    return reply, descriptors


def mapped(memory: DeviceMemory, shape: tuple[int, ...], offset: int = 0) -> torch.Tensor:
    memory.map_anywhere()
    return torch.as_tensor(AtAddress(memory.address + offset, shape), device="cuda")


def expected(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = x.double()
    return (wide * (wide.square().mean(1, keepdim=True) + 1e-6).rsqrt() * weight).float()


def test_from_source_to_a_call_elsewhere(sandbox, profile, pool_library):
    torch.zeros(1, device="cuda")
    state, arena, other = DeviceMemory(0, 4 * COLUMNS), DeviceMemory(0, BYTES), DeviceMemory(0, BYTES)
    weight = mapped(state, (COLUMNS,)).uniform_(0.5, 2.0)
    x = mapped(arena, (ROWS, COLUMNS)).normal_()
    torch.cuda.synchronize()
    zygote = sandbox.zygote(["torch", "triton", runner.__name__, process.__name__])
    candidate = zygote.spawn(f"{runner.__name__}:main", profile)
    with open(pool_library, "rb") as library:
        ask(candidate, messages.Open(0, POOL_AT, SPAN - (POOL_AT - BASE)), library.fileno())
    ask(
        candidate,
        wire.Load({"candidate.py": SOURCE}, "candidate.py", "ModelNew", "module", False, 1, 1, 1, 1),
    )
    ask(candidate, wire.Construct("one", f"[{COLUMNS}]", 0))
    slot = wire.Slot(0, (COLUMNS,), (1,), "float32")
    given = wire.SetState("one", state.size, ("weight",), (slot,))
    matched, _ = ask(candidate, messages.SetStateAt(given, STATE_AT), state.export())
    assert matched == wire.Matched(("weight",))
    place = wire.Slot(0, (ROWS, COLUMNS), (COLUMNS, 1), "float32")
    bind = wire.Bind(1, "one", "plain", arena.size, (place,), (), ())
    ask(candidate, messages.BindAt(bind, ARENA_AT), arena.export())

    outcome, _ = ask(candidate, messages.Call(1))
    (output,) = outcome.outputs
    exported, files = ask(candidate, messages.Export())
    held = {s.address: DeviceMemory(0, s.size, f) for s, f in zip(exported.segments, files, strict=True)}
    address = max(a for a in held if a <= output.address)
    here = mapped(held[address], (ROWS, COLUMNS), output.address - address)
    torch.testing.assert_close(here, expected(x, weight), rtol=1e-5, atol=1e-5)

    captured, files = ask(candidate, messages.Capture(1))
    text, *cubins = (os.pread(f, size, 0) for f, size in zip(files, captured.sizes, strict=True))
    exported, files = ask(candidate, messages.Export())
    launching = Launching(zygote.spawn(f"{process.__name__}:main", profile), 0, 5.0, 30.0)
    launching.map(other.export(), ARENA_AT, other.size)
    copies = {}
    for segment, file in zip(exported.segments, files, strict=True):
        theirs, copy = DeviceMemory(0, segment.size, file), DeviceMemory(0, segment.size)
        mapped(copy, (segment.size // 4,)).copy_(mapped(theirs, (segment.size // 4,)))
        torch.cuda.synchronize()
        theirs.close()
        launching.map(copy.export(), segment.address, segment.size)
        copies[segment.address] = copy
    candidate.kill()
    (output,) = captured.outputs
    address = max(a for a in copies if a <= output.address)
    y = mapped(copies[address], (ROWS, COLUMNS), output.address - address)
    fresh = mapped(other, (ROWS, COLUMNS))
    launching.load(plan.read(json.loads(text)), cubins)
    for _ in range(5):
        fresh.normal_()
        y.fill_(float("nan"))
        torch.cuda.synchronize()
        assert 1e-6 < launching.run() < 1e-3
        torch.testing.assert_close(y, expected(fresh, weight), rtol=1e-5, atol=1e-5)
    launching.close()
