"""Device memory at addresses that we choose, shared between processes by descriptor.

A captured call names addresses. It can run in another process only where the same addresses can be had there, so
each process that holds candidates' memory reserves one range, at the same place, before anything else is allocated.
Nothing that is mapped in it is at an address that the driver chose.
"""

from __future__ import annotations

import os

from cuda.bindings import driver as cu

from evaluator.harness.cuda.driver import DriverError, call

BASE = 0x5A_0000_0000_00
"""Where the range begins: far from where driver, heap and libraries lie in a process of 47-bit addresses."""
SPAN = 256 << 30
"""Bytes of the range: address space, not memory."""
GRANULE = 2 << 20
_FD = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def granules(size: int) -> int:
    """`size` rounded up to what can be mapped."""
    return max(GRANULE, -(-size // GRANULE) * GRANULE)


class Range:
    """The reserved range of this process."""

    def __init__(self, base: int = BASE, span: int = SPAN) -> None:
        self.base = base
        self.span = span
        got = int(call(cu.cuMemAddressReserve, span, GRANULE, base, 0))
        if got != base:
            call(cu.cuMemAddressFree, got, span)
            raise DriverError("cuMemAddressReserve", f"{base:#x} is taken in this process")

    def close(self) -> None:
        """Give the addresses up; nothing may be mapped there any more."""
        call(cu.cuMemAddressFree, self.base, self.span)


class DeviceMemory:
    """`size` bytes of device memory (whole granules), not mapped yet; made here, or taken from a descriptor.

    What is unmapped and closed by everyone who holds it is given back to the device.
    """

    def __init__(self, device: int, size: int, descriptor: int | None = None) -> None:
        self.device = device
        self.size = granules(size)
        self.address = 0
        self._reserved = 0
        if descriptor is None:
            self._handle = call(cu.cuMemCreate, self.size, _properties(device), 0)
        else:
            try:
                self._handle = call(cu.cuMemImportFromShareableHandle, descriptor, _FD)
            finally:
                os.close(descriptor)

    def export(self) -> int:
        """A descriptor of the memory, owned by the caller."""
        return int(call(cu.cuMemExportToShareableHandle, self._handle, _FD, 0))

    def map(self, address: int, writable: bool = True) -> None:
        """Make it accessible at an address inside this process's range, or at one reserved for it alone."""
        call(cu.cuMemMap, address, self.size, 0, self._handle, 0)
        self.address = address
        flags = cu.CUmemAccess_flags
        access = cu.CUmemAccessDesc()
        access.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = self.device
        access.flags = (
            flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE if writable else flags.CU_MEM_ACCESS_FLAGS_PROT_READ
        )
        call(cu.cuMemSetAccess, address, self.size, [access], 1)

    def map_anywhere(self, writable: bool = True) -> None:
        """Make it accessible where the driver finds room, for a process that needs it at no particular place."""
        if not self.address:
            self._reserved = int(call(cu.cuMemAddressReserve, self.size, GRANULE, 0, 0))
            self.map(self._reserved, writable)

    def unmap(self) -> None:
        """Take it from its address. Work that still uses it must be over."""
        if self.address:
            call(cu.cuMemUnmap, self.address, self.size)
            self.address = 0
        if self._reserved:
            call(cu.cuMemAddressFree, self._reserved, self.size)
            self._reserved = 0

    def close(self) -> None:
        """Unmap it and let it go."""
        self.unmap()
        if self._handle is not None:
            call(cu.cuMemRelease, self._handle)
            self._handle = None


def _properties(device: int) -> cu.CUmemAllocationProp:
    properties = cu.CUmemAllocationProp()
    properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device
    properties.requestedHandleTypes = _FD
    return properties
