"""The command line as a user runs it: a process of its own, its own data folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SECONDS = 600


@dataclass(frozen=True)
class Run:
    """What a command left: its exit code, its standard output as JSON where it is, and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on standard output."""
        data = json.loads(self.out)
        assert isinstance(data, dict)
        return data


@dataclass(frozen=True)
class Tool:
    """`kernelwright` with a data folder."""

    data: Path

    def command(self, *arguments: object) -> list[str]:
        """The command line; `problem show` keeps no data."""
        data = [] if arguments[:2] == ("problem", "show") else ["--data", str(self.data)]
        return [str(Path(sys.executable).with_name("kernelwright")), *map(str, arguments), *data]

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Start it in a session of its own; the caller ends it."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self.command(*arguments),
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
            env=dict(os.environ),
        )

    def __call__(self, *arguments: object) -> Run:
        """Run it to its end."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
            process.wait()
        return Run(process.returncode, out, err)


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """The tool with an empty data folder."""
    return Tool(tmp_path / "data")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file into a temporary folder; its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
