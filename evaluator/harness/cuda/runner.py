"""The runner on CUDA: as everywhere, but its memory is the device's, at addresses that the judge chooses.

All that torch allocates here comes from the range reserved for candidates, so that a captured call can be run
elsewhere and its outputs be read in place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import torch

from evaluator.harness import wire
from evaluator.harness.cuda import messages, plan
from evaluator.harness.cuda.capture import Code, NotLiftable, capture
from evaluator.harness.cuda.driver import open_device
from evaluator.harness.cuda.pool import Pool
from evaluator.harness.cuda.vmm import DeviceMemory, Range
from evaluator.harness.heap import keep_freed_memory
from evaluator.harness.runner import Channel, Reply, Runner, answer
from evaluator.harness.tensors import located, outputs_of
from evaluator.harness.wire import Done, Load, Located, Matched, Outcome

ALLOCATOR = "pool.so"


class Bytes:
    """Device memory as torch takes it."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


class CudaRunner(Runner):
    """Carries out requests on one GPU."""

    def handle(self, request: object, descriptors: list[int]) -> object:
        if isinstance(request, (messages.Open, messages.Capture)):  # a capture routes by itself
            return super().handle(request, descriptors)
        with torch.cuda.use_mem_pool(self.pool.memory):
            return super().handle(request, descriptors)

    def handlers(self) -> Mapping[type, Callable[[Any, list[int]], object]]:
        return {
            **super().handlers(),
            messages.Open: self.open,
            messages.BindAt: self.bind_at,
            messages.SetStateAt: self.set_state_at,
            messages.Call: self.call,
            messages.Capture: self.capture,
            messages.Export: self.export,
        }

    def open(self, request: messages.Open, descriptors: list[int]) -> Done:
        """Take the device, before any foreign code is here."""
        library = os.path.join(os.path.dirname(self.folder), ALLOCATOR)
        with os.fdopen(descriptors[0], "rb") as source, open(library, "wb") as target:
            target.write(source.read())
        self.device = open_device(request.device)
        torch.cuda.init()  # type: ignore[no-untyped-call]
        self.range = Range()
        self.held: list[DeviceMemory] = []
        self.pool = Pool(library, request.pool_address, request.pool_size, self.device)
        return Done()

    def load(self, load: Load, descriptors: list[int]) -> Done:
        with torch.device("cuda"):
            return super().load(load, descriptors)

    def construct(self, construct: wire.Construct, descriptors: list[int]) -> wire.Constructed:
        with torch.device("cuda"):
            return super().construct(construct, descriptors)

    def draw(self, request: wire.Draw, descriptors: list[int]) -> wire.Drawn:
        with torch.device("cuda"):
            return super().draw(request, descriptors)

    def bind_at(self, request: messages.BindAt, descriptors: list[int]) -> Done:
        """As `bind`."""
        self._address, self._writable = request.address, True
        return self.bind(request.bind, descriptors)

    def set_state_at(self, request: messages.SetStateAt, descriptors: list[int]) -> Matched:
        """As `set_state`."""
        self._address, self._writable = request.address, False
        return self.set_state(request.state, descriptors)

    def memory(self, descriptor: int, size: int, shared: bool = True) -> torch.Tensor:
        held = DeviceMemory(self.device, size, descriptor)
        held.map(self._address, self._writable)
        self.held.append(held)
        return torch.as_tensor(Bytes(self._address, size), device="cuda")

    def located(self, tensor: torch.Tensor) -> Located:
        return located(tensor, "cuda")

    def call(self, request: messages.Call, _: list[int]) -> Outcome:
        """One call, over when the device has nothing left to do."""
        made = self.bindings[request.number]
        with torch.no_grad():
            result = made.call()
            torch.cuda.synchronize()
        tensors = () if result is None and not made.returns else outputs_of(result)
        made.results.append(tensors)
        return Outcome(tuple(map(self.located, tensors)))

    def capture(self, request: messages.Capture, _: list[int]) -> object:
        """A call as a plan; the outputs that it names are kept."""
        made = self.bindings[request.number]
        try:
            with torch.no_grad():
                captured = capture(made.call, self.pool.memory, Code({}))
        except NotLiftable as e:
            return messages.Unliftable(str(e))
        made.results.append(outputs_of(captured.result))
        parts = [json.dumps(plan.write(captured.plan)).encode(), *captured.cubins.values()]
        outputs = tuple(map(self.located, made.results[-1]))
        return Reply(messages.Captured(tuple(map(len, parts)), outputs), tuple(map(_file, parts)))

    def export(self, _: messages.Export, __: list[int]) -> Reply:
        """The memory that torch holds."""
        found = self.pool.segments()
        descriptors = tuple(self.pool.export(address) for address, _ in found)
        return Reply(messages.Exported(tuple(messages.Segment(a, s) for a, s in found)), descriptors)


def _file(content: bytes) -> int:
    descriptor = os.memfd_create("part", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    return descriptor


def main(channel: Channel) -> None:
    """Serve requests until the judge hangs up."""
    keep_freed_memory()
    requests = (
        *(wire.Load, wire.Construct, wire.Draw, wire.Unbind, wire.Discard, wire.Trace),
        *(
            messages.Open,
            messages.BindAt,
            messages.SetStateAt,
            messages.Call,
            messages.Capture,
            messages.Export,
        ),
    )
    answer(channel, CudaRunner(), lambda message: messages.SCHEMA.decode(message, *requests))
