"""The table of system call numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox import syscall_table

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", syscall_table.MACHINES)
def test_numbers_are_those_of_the_kernel_s_headers(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"{header} is not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in found}
    for name in syscall_table._NUMBERS:
        number = syscall_table.number(name, machine)
        if number is not None and name in numbers:
            assert number == numbers[name], name


def test_a_call_that_a_machine_lacks_has_no_number() -> None:
    assert syscall_table.number("iopl", "aarch64") is None
