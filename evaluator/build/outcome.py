"""What comes of a build, and what compilers say. Plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluator.printable import printable
from sandbox.api import Completed, EndKind

MAX_DIAGNOSTICS = 20
KEPT_CHARACTERS = 4000
_DIAGNOSTIC = re.compile(
    r"^(?:\./)?([^:\n]{1,200}):(\d{1,9}):(\d{1,9}): (fatal error|error|warning): (.{0,400}).*$", re.MULTILINE
)
_CUDA_DIAGNOSTIC = re.compile(
    r"^([^(\n]{1,200})\((\d{1,9})\): (catastrophic error|error|warning)(?: #[\w-]{1,20})?: (.{0,400}).*$",
    re.MULTILINE,
)
"""NVRTC's and nvcc's form."""
_LAST_LINE = re.compile(r"^(\S.{0,400}).*\s*\Z", re.MULTILINE)


@dataclass(frozen=True)
class Diagnostic:
    """One line of a compiler's complaint. `column` is 0 where the compiler names none."""

    file: str
    line: int
    column: int
    severity: str
    message: str


@dataclass(frozen=True)
class Build:
    """The outcome of a build: what was made, or why there is nothing.

    product: a shared object (C++), or an archive of what a first import built (Python).
    """

    product: bytes | None
    diagnostics: tuple[Diagnostic, ...]
    output: str
    seconds: float
    cached: bool
    timed_out: bool = False

    @property
    def complaint(self) -> str:
        """Why there is no product, in a line: the first error, else the last thing that was printed."""
        first = next((d for d in self.diagnostics if d.severity != "warning"), None)
        if first is not None:
            return f"{first.file}:{first.line}: {first.message}"
        last = _LAST_LINE.search(self.output)
        return last.group(1).strip() if last else "the build failed and said nothing"


def outcome(done: Completed, product: str) -> Build:
    """A finished command as the outcome of a build that should have left the file `product`."""
    output = printable(done.output.decode(errors="replace"))
    succeeded = done.status.kind is EndKind.EXITED and done.status.code == 0
    return Build(
        product=done.files.get(product) if succeeded else None,
        diagnostics=diagnostics(output),
        output=output[-KEPT_CHARACTERS:],
        seconds=done.wall_seconds,
        cached=False,
        timed_out=done.timed_out,
    )


def diagnostics(output: str) -> tuple[Diagnostic, ...]:
    """The errors and warnings in a compiler's output, errors first, at most 20."""
    found = [
        Diagnostic(f, int(line), int(column), s, m) for f, line, column, s, m in _DIAGNOSTIC.findall(output)
    ]
    found += [Diagnostic(f, int(line), 0, s, m) for f, line, s, m in _CUDA_DIAGNOSTIC.findall(output)]
    return tuple(sorted(found, key=lambda d: d.severity == "warning")[:MAX_DIAGNOSTICS])
