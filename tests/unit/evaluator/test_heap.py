import subprocess
import sys

PROGRAM = """
import ctypes, resource
from evaluator.harness.heap import keep_freed_memory
assert keep_freed_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def once():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = libc.malloc(64 << 20)
    ctypes.memset(block, 1, 64 << 20)
    libc.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first, second = once(), once()
assert second < first / 10 or first < 64, (first, second)
"""


def test_memory_that_was_freed_is_used_again_without_new_pages():
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], check=True)
