"""The judge reads a sandboxed process's memory where it is; the process cannot hinder or mislead it."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.api import MemoryUnreadable, Process
from tests.contracts.inside import SECONDS, Spawn, value


def pattern(spawn: Spawn) -> tuple[Process, int, bytes]:
    """A process, where its pattern lies, and the pattern."""
    process = spawn("pattern")
    message, _ = process.channel.receive(SECONDS)
    return process, int(str(message["address"])), bytes(range(256)) * 64


class TestMemory:
    def test_spans_are_read_in_order(self, spawn: Spawn) -> None:
        process, address, expected = pattern(spawn)
        spans = [(address + (i * 37) % 8000, i % 5) for i in range(1500)]
        want = b"".join(expected[a - address : a - address + n] for a, n in spans)
        assert process.read_memory(spans) == want
        assert process.read_memory([]) == b""

    def test_memory_is_read_into_a_buffer(self, spawn: Spawn) -> None:
        process, address, expected = pattern(spawn)
        target = bytearray(1000)
        process.read_memory_into(address + 3, memoryview(target))
        assert target == expected[3:1003]

    @pytest.mark.parametrize(
        "span",
        [
            *((0, 8), (1 << 47, 8), (-8, 8), (4096, -1), ((1 << 64) - 4, 8), (1 << 80, 8), (8, 1 << 70)),
            *((1.5, 8), (True, 8), ("8", 8), (None, 8), (4096, 1 << 40)),
        ],
    )
    def test_a_span_that_is_not_there_is_refused(self, spawn: Spawn, span: Any) -> None:
        process, address, _ = pattern(spawn)
        with pytest.raises(MemoryUnreadable):
            process.read_memory([(address, 8), span])
        assert process.poll() is None

    def test_an_address_that_is_not_there_is_refused(self, spawn: Spawn) -> None:
        process, _, _ = pattern(spawn)
        for wrong in (0, -1, 1 << 47, 1 << 70):
            with pytest.raises(MemoryUnreadable):
                process.read_memory_into(wrong, memoryview(bytearray(64)))

    def test_it_cannot_hide_its_memory(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert value(process, "return ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)") == -1
        assert value(process, "return ctypes.CDLL(None).syscall(447, 0)") == -1
        body = "f.__globals__['b'] = b = ctypes.create_string_buffer(b'here'); return ctypes.addressof(b)"
        address = value(process, body)
        assert process.read_memory([(address, 4)]) == b"here"

    def test_memory_is_readable_while_it_is_frozen(self, spawn: Spawn) -> None:
        process, address, expected = pattern(spawn)
        process.freeze()
        assert process.read_memory([(address, 256)]) == expected[:256]
