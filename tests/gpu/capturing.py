"""A process that captures one call and says what it found: started by test_lifted, honest code only."""

from __future__ import annotations

import json
import os
import runpy
import sys
import warnings

import torch

from evaluator.harness.cuda import plan
from evaluator.harness.cuda.capture import Code, NotLiftable, capture
from evaluator.harness.cuda.driver import open_device
from evaluator.harness.cuda.pool import Pool
from evaluator.harness.cuda.vmm import BASE, SPAN, DeviceMemory, Range
from tests.gpu.conftest import AtAddress

POOL_AT = BASE + (8 << 30)


def tensor(address: int, shape: tuple[int, ...]) -> torch.Tensor:
    """A float32 tensor over device memory."""
    return torch.as_tensor(AtAddress(address, shape), device="cuda")


def main(source: str, library: str, out: str, *extents: str) -> None:
    """Capture `call(x)` of a source file on an input of that shape; the plan goes to the folder `out`."""
    device = open_device(0)
    torch.zeros(1, device="cuda")
    keep = Range()
    shape = tuple(map(int, extents))
    memory = DeviceMemory(device, 4 * torch.Size(shape).numel())
    memory.map(keep.base)
    x = tensor(BASE, shape).normal_()
    pool = Pool(library, POOL_AT, SPAN - (POOL_AT - BASE), device)
    call = runpy.run_path(source)["call"]
    try:
        captured = capture(lambda: call(x), pool.memory, Code({}))
    except NotLiftable as e:
        answer: dict[str, object] = {"reason": str(e)}
    else:
        result = captured.result
        assert isinstance(result, torch.Tensor)
        answer = {"plan": plan.write(captured.plan), "output": result.data_ptr(), "segments": pool.segments()}
        for digest, cubin in captured.cubins.items():
            with open(os.path.join(out, f"{digest}.cubin"), "wb") as file:
                file.write(cubin)
    with open(os.path.join(out, "answer.json"), "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
