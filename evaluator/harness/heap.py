"""A heap that is kept: freed memory is used again instead of going back to the kernel.

A call that allocates its result would otherwise fault in every page of it, or not, as chance has it (2 ms against
1 ms for 4 MB): the heap's top is trimmed, large blocks are mapped anew. A caching allocator, or a program that has
run for a while, does not. Baseline and candidate get the same; results that a caller provides cost no faults either.
"""

from __future__ import annotations

import ctypes

# <malloc.h>
_M_TRIM_THRESHOLD = -1
_M_MMAP_MAX = -4
_NEVER = (1 << 31) - 1


def keep_freed_memory() -> bool:
    """Tell the C library's allocator to keep what is freed; whether it has such a setting (glibc has)."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_MAX, 0)) and bool(mallopt(_M_TRIM_THRESHOLD, _NEVER))
