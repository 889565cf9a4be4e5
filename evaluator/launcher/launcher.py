"""Memory at the plan's addresses, the plan as a graph, and its time by device events, call by call."""

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings import driver as cu

from evaluator.harness.cuda.driver import call, open_device
from evaluator.harness.cuda.plan import Plan
from evaluator.harness.cuda.vmm import DeviceMemory, Range
from evaluator.launcher.graph import Modules, Replay

FLUSH_SHARE = 4
"""Bytes written between calls, in sizes of the L2 cache: nothing of the call before is left in it, and the device is
busy for longer than the host needs to enqueue what comes next."""
_L2 = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE


class Launcher:
    """One device, one set of memory, any number of plans, one after the other."""

    def __init__(self, device: int) -> None:
        self.device = open_device(device)
        self.range = Range()
        self.modules = Modules()
        self.memory: list[DeviceMemory] = []
        self._context = call(cu.cuCtxGetCurrent)
        self._stream = call(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING)
        self._events = [call(cu.cuEventCreate, 0) for _ in range(2)]
        self._flush_bytes = FLUSH_SHARE * int(call(cu.cuDeviceGetAttribute, _L2, self.device))
        self._flush_at = call(cu.cuMemAlloc, self._flush_bytes)
        self._replay: Replay | None = None

    def map(self, descriptor: int, address: int, size: int) -> None:
        """Take memory from a descriptor and lay it at an address of the range."""
        memory = DeviceMemory(self.device, size, descriptor)
        self.memory.append(memory)
        memory.map(address)

    def load(self, plan: Plan, cubins: Sequence[bytes]) -> None:
        """Make the plan what `run` runs. Raises PlanError."""
        for cubin in cubins:
            self.modules.add(cubin)
        self._replay = Replay(plan, self.modules, self._context)
        call(cu.cuGraphUpload, self._replay.executable, self._stream)
        self.wait()

    def run(self) -> float:
        """One call, with nothing of the call before in the L2 cache; seconds between the events around it.

        Raises DriverError where a launch failed; a sticky one ends this process's use.
        """
        assert self._replay is not None
        before, after = self._events
        call(cu.cuMemsetD32Async, self._flush_at, 0, self._flush_bytes // 4, self._stream)
        call(cu.cuEventRecord, before, self._stream)
        call(cu.cuGraphLaunch, self._replay.executable, self._stream)
        call(cu.cuEventRecord, after, self._stream)
        self.wait()
        return float(call(cu.cuEventElapsedTime, before, after)) * 1e-3

    def wait(self) -> None:
        """Until nothing is pending on the device."""
        call(cu.cuCtxSynchronize)

    def unmap(self) -> None:
        """Let all memory go, and the plan with it."""
        self._replay = None
        for memory in self.memory:
            memory.close()
        self.memory.clear()

    def close(self) -> None:
        """Let everything go."""
        self.unmap()
        call(cu.cuMemFree, self._flush_at)
        self.range.close()
