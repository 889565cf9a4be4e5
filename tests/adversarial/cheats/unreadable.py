"""Makes its memory unreadable for the judge: by asking the kernel (refused), then by taking the right to read away.

incident: own
problem: softmax
verdict: integrity
defence: limits
"""

import ctypes
import mmap

import torch

libc = ctypes.CDLL(None)
libc.prctl(4, 0, 0, 0, 0)
kept: list[mmap.mmap] = []


def run(x):
    memory = mmap.mmap(-1, x.numel() * 4)
    kept.append(memory)
    out = torch.frombuffer(memory, dtype=torch.float32).view(x.shape)
    out.copy_(torch.softmax(x, dim=-1))
    libc.mprotect(ctypes.c_void_p(out.data_ptr()), ctypes.c_size_t(x.numel() * 4), 0)
    return out
