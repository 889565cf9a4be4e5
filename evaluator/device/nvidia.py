"""What NVML says of an NVIDIA GPU: its facts, and readings from which a disturbed sample is told.

Units are in the names: megahertz, watts, degrees Celsius, bytes. NVML runs beside CUDA and makes no context.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pynvml

_SLOWED = {
    pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown: "power brake",
    pynvml.nvmlClocksEventReasonHwSlowdown: "hardware slowdown",
    pynvml.nvmlClocksEventReasonHwThermalSlowdown: "heat (hardware)",
    pynvml.nvmlClocksEventReasonSwPowerCap: "power limit",
    pynvml.nvmlClocksEventReasonSwThermalSlowdown: "heat (software)",
    pynvml.nvmlClocksEventReasonSyncBoost: "clocks bound to another GPU's",
}
_EXCLUSIVE = {
    pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: "exclusive to one process",
    pynvml.NVML_COMPUTEMODE_PROHIBITED: "closed to compute work",
}
_SHARED_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
_PARAMETERS = Path("/proc/driver/nvidia/params")
_MPS_FOLDER = "/tmp/nvidia-mps"


class NoGpu(Exception):
    """There is no NVIDIA driver, or no GPU of that number."""


@dataclass(frozen=True)
class Gpu:
    """What does not change while it is used. `mode` says who may use it where that is not everybody."""

    index: int
    name: str
    uuid: str
    driver: str
    compute_capability: tuple[int, int]
    memory_bytes: int
    persistence: bool
    mig: bool
    mode: str
    counters_for_all: bool
    mps: bool

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why nothing can be judged on it, each with what to do; empty where it can."""
        found = []
        if self.mps:
            found.append(
                "MPS is running, so processes on the GPU share a context: end nvidia-cuda-mps-control"
            )
        if self.mode:
            found.append(
                f"it is {self.mode}, but judge and runner both need it: nvidia-smi -i {self.index} -c 0"
            )
        return tuple(found)


@dataclass(frozen=True)
class Reading:
    """One moment. `slowed` are the reasons for which clocks are lower than they could be; `processes` are pids."""

    sm_mhz: int
    memory_mhz: int
    watts: float
    celsius: int
    used_bytes: int
    slowed: frozenset[str]
    processes: frozenset[int]


def disturbance(before: Reading, after: Reading, own: Collection[int]) -> str:
    """Why a sample between two readings does not count, or nothing. `own` are the pids of those being measured."""
    slowed = sorted(before.slowed | after.slowed)
    if slowed:
        return f"clocks were held down: {', '.join(slowed)}"
    others = sorted((before.processes | after.processes) - set(own))
    if others:
        return f"other processes on the GPU: {', '.join(map(str, others))}"
    return ""


class Monitor:
    """One GPU through NVML. Raises NoGpu."""

    def __init__(self, index: int = 0) -> None:
        self.index = index
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as e:
            raise NoGpu(f"no NVIDIA driver that answers: {e}") from e
        try:
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError as e:
            self.close()
            raise NoGpu(f"no GPU {index}: {e}") from e

    def gpu(self) -> Gpu:
        """Its facts, as they are now."""
        handle = self._handle
        return Gpu(
            index=self.index,
            name=pynvml.nvmlDeviceGetName(handle),
            uuid=pynvml.nvmlDeviceGetUUID(handle),
            driver=pynvml.nvmlSystemGetDriverVersion(),
            compute_capability=tuple(pynvml.nvmlDeviceGetCudaComputeCapability(handle)),
            memory_bytes=pynvml.nvmlDeviceGetMemoryInfo(handle).total,
            persistence=bool(_known(pynvml.nvmlDeviceGetPersistenceMode, handle, otherwise=0)),
            mig=_known(pynvml.nvmlDeviceGetMigMode, handle, otherwise=(0, 0))[0] == 1,
            mode=_EXCLUSIVE.get(_known(pynvml.nvmlDeviceGetComputeMode, handle, otherwise=0), ""),
            counters_for_all=counters_for_all(_PARAMETERS),
            mps=mps_running(),
        )

    def nodes(self) -> tuple[Path, ...]:
        """The device nodes that a process needs to use it."""
        minor = pynvml.nvmlDeviceGetMinorNumber(self._handle)
        return tuple(Path("/dev", name) for name in (*_SHARED_NODES, f"nvidia{minor}"))

    def read(self) -> Reading:
        """This moment."""
        handle = self._handle
        reasons = _known(pynvml.nvmlDeviceGetCurrentClocksEventReasons, handle, otherwise=0)
        running = _known(pynvml.nvmlDeviceGetComputeRunningProcesses, handle, otherwise=[])
        return Reading(
            sm_mhz=_known(pynvml.nvmlDeviceGetClockInfo, handle, pynvml.NVML_CLOCK_SM, otherwise=0),
            memory_mhz=_known(pynvml.nvmlDeviceGetClockInfo, handle, pynvml.NVML_CLOCK_MEM, otherwise=0),
            watts=_known(pynvml.nvmlDeviceGetPowerUsage, handle, otherwise=0) / 1000,
            celsius=_known(pynvml.nvmlDeviceGetTemperature, handle, pynvml.NVML_TEMPERATURE_GPU, otherwise=0),
            used_bytes=pynvml.nvmlDeviceGetMemoryInfo(handle).used,
            slowed=frozenset(text for bit, text in _SLOWED.items() if reasons & bit),
            processes=frozenset(p.pid for p in running),
        )

    def close(self) -> None:
        """Let NVML go."""
        pynvml.nvmlShutdown()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


def _known(function: Callable[..., Any], *arguments: object, otherwise: object) -> Any:
    """What a GPU does not report (virtual ones leave much out) is `otherwise`."""
    try:
        return function(*arguments)
    except pynvml.NVMLError:
        return otherwise


def counters_for_all(parameters: Path) -> bool:
    """Whether the driver lets ordinary users read hardware counters."""
    try:
        return "RmProfilingAdminOnly: 0" in parameters.read_text()
    except OSError:
        return False


def mps_running() -> bool:
    """Whether CUDA programs started here would go through an MPS server."""
    folder = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", _MPS_FOLDER))
    return (folder / "control").exists()
