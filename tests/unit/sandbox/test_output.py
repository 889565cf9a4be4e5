"""The bounded output file."""

from __future__ import annotations

import os

import pytest

from sandbox.output import BoundedOutput


def test_what_was_written_is_read_and_kept_after_closing() -> None:
    output = BoundedOutput(4096)
    os.write(output.fileno(), b"hello ")
    os.write(output.fileno(), b"world")
    assert output.read() == (b"hello world", False)
    output.close()
    output.close()
    assert output.read() == (b"hello world", False)


def test_a_flood_fills_it_and_is_refused() -> None:
    output = BoundedOutput(5000)
    os.write(output.fileno(), b"x" * 8000)
    os.write(output.fileno(), b"y" * 192)
    with pytest.raises(PermissionError):
        os.write(output.fileno(), b"z")
    assert output.read() == (b"x" * 8000 + b"y" * 192, True)
    output.close()


def test_a_writer_cannot_grow_shrink_or_misplace_it() -> None:
    output = BoundedOutput(4096)
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(output.fileno(), size)
    os.lseek(output.fileno(), 1 << 40, os.SEEK_SET)
    text, full = output.read()
    assert (len(text), full) == (4096, True)
    output.close()
