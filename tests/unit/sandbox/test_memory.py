"""Reading memory, tried on this process's own."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from sandbox import memory
from sandbox.api import MemoryUnreadable


def test_more_spans_than_one_call_takes_are_joined() -> None:
    buffer = ctypes.create_string_buffer(bytes(range(200)))
    start = ctypes.addressof(buffer)
    spans = [(start + i % 190, i % 7) for i in range(memory.SPANS_PER_CALL * 2 + 3)]
    expected = b"".join(buffer.raw[a - start : a - start + n] for a, n in spans)
    assert memory.read_spans(os.getpid(), spans) == expected


def test_a_typed_buffer_is_filled() -> None:
    source = ctypes.create_string_buffer(b"abcdefgh")
    target = memoryview(bytearray(8)).cast("Q")
    memory.read_into(os.getpid(), ctypes.addressof(source), target)
    assert target.tobytes() == b"abcdefgh"


def test_an_empty_target_needs_no_memory() -> None:
    memory.read_into(os.getpid(), 0, memoryview(bytearray()))
    assert memory.read_spans(os.getpid(), [(0, 0)]) == b""


def test_a_span_half_mapped_is_refused() -> None:
    with pytest.raises(MemoryUnreadable):
        memory.read_spans(os.getpid(), [((1 << 47) - 8192, 16384)])


def test_a_process_that_is_gone_is_named_so() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    with pytest.raises(ProcessLookupError):
        memory.read_spans(pid, [(4096, 8)])


WITHOUT_TRACING = """
import ctypes, os, signal
from sandbox import memory, syscalls as sc
secret = ctypes.create_string_buffer(b"what a child holds")
span = [(ctypes.addressof(secret), len(secret.value))]
ready, go = os.pipe()
pid = os.fork()
if pid == 0:
    os.setgroups([])
    os.setresgid(12345, 12345, 12345)
    os.setresuid(12345, 12345, 12345)
    sc.prctl(sc.PR_SET_DUMPABLE, 1)
    os.write(go, b"x")
    signal.pause()
os.read(ready, 1)
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
sc.call("capget", header, data)
for word in (0, 1):
    data[word] &= ~(1 << 19)
sc.call("capset", header, data)
try:
    memory.read_spans(pid, span)
except memory.MemoryUnreadable:
    print("refused")
with memory.real_ids((12345, 12345)):
    print(memory.read_spans(pid, span).decode())
print(os.getresuid(), os.getresgid())
os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.root
def test_a_root_that_may_not_trace_reads_by_taking_on_the_ids() -> None:
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TRACING],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.splitlines() == ["refused", "what a child holds", "(0, 0, 0) (0, 0, 0)"]


WITHOUT_THE_CALL = """
import ctypes, os
from sandbox import memory, seccomp, syscalls as sc
from sandbox.api import MemoryUnreadable
held = ctypes.create_string_buffer(b"what it holds")
at = ctypes.addressof(held)
sc.prctl(sc.PR_SET_NO_NEW_PRIVS, 1)
seccomp.install()
print(memory.read_spans(os.getpid(), [(at, 4), (at + 5, 8)]).decode())
for spans in ([(at, 4), (1 << 40, 8)], [(0, 8)]):
    try:
        memory.read_spans(os.getpid(), spans)
    except MemoryUnreadable:
        print("refused")
"""


def test_memory_is_read_from_its_file_where_the_call_is_closed() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_THE_CALL], capture_output=True, text=True)
    assert done.stdout.split("\n") == ["whatit holds", "refused", "refused", ""], done.stderr
