"""The CUDA driver's calls, checked. Everything here raises DriverError where the driver says no.

DriverError        `.call` failed with `.code` (a name such as CUDA_ERROR_ILLEGAL_ADDRESS)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cu


class DriverError(Exception):
    """A call of the driver failed. `sticky` errors end the context: nothing works in this process any more."""

    _STICKY = frozenset(
        f"CUDA_ERROR_{name}"
        for name in (
            *("ILLEGAL_ADDRESS", "ILLEGAL_INSTRUCTION", "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE"),
            *("INVALID_PC", "LAUNCH_FAILED", "LAUNCH_TIMEOUT", "HARDWARE_STACK_ERROR", "ASSERT"),
        )
    )

    def __init__(self, call: str, code: str) -> None:
        super().__init__(f"{call}: {code}")
        self.call = call
        self.code = code

    @property
    def sticky(self) -> bool:
        """Whether the context is lost with it."""
        return self.code in self._STICKY


def call(function: Callable[..., tuple[Any, ...]], *arguments: object) -> Any:
    """What a driver function gives besides its status: nothing, one value, or a tuple of them."""
    status, *values = function(*arguments)
    if status != cu.CUresult.CUDA_SUCCESS:
        raise DriverError(function.__name__, getattr(status, "name", str(status)))
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def open_device(number: int) -> int:
    """Initialise the driver and make the primary context of a device current in this thread; the device's handle."""
    call(cu.cuInit, 0)
    device = call(cu.cuDeviceGet, number)
    call(cu.cuCtxSetCurrent, call(cu.cuDevicePrimaryCtxRetain, device))
    return int(device)


def parameters(function: cu.CUfunction) -> list[tuple[int, int]]:
    """(offset, size) in bytes of every parameter of a device function, in order."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            offset, size = call(cu.cuFuncGetParamInfo, function, len(found))
        except DriverError:
            return found
        found.append((offset, size))
