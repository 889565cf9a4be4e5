"""Returns a tensor whose memory is no longer mapped.

incident: own
problem: softmax
verdict: integrity
defence: limits
"""

import ctypes
import mmap

import torch

libc = ctypes.CDLL(None)


def run(x):
    memory = mmap.mmap(-1, x.numel() * 4)
    out = torch.frombuffer(memory, dtype=torch.float32).view(x.shape)
    out.copy_(torch.softmax(x, dim=-1))
    libc.munmap(ctypes.c_void_p(out.data_ptr()), ctypes.c_size_t(x.numel() * 4))
    return out
