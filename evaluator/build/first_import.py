"""Python candidates that compile as they are imported (torch.utils.cpp_extension, Inductor's own loader): their
first import is a build, in a sandbox of its own. What it left is kept, and runners import it without compiling."""

from __future__ import annotations

import sys

from evaluator.build.tools import harness
from evaluator.problem.candidate import Candidate
from sandbox.api import Command

ARCHIVE = "built.tar"
EXTENSIONS = "cpp_extension"
MARKS = (EXTENSIONS, "async_compile", "CppCodeCache", "CppPythonBindingsCodeCache")
"""Words without which a source compiles nothing at import. One that hides them is compiled in every runner."""


def compiles_at_import(candidate: Candidate) -> bool:
    """Whether a Python candidate may compile something when it is imported."""
    return any(mark in text for text in candidate.files.values() for mark in MARKS)


def uses_extensions(candidate: Candidate) -> bool:
    """Whether it needs what torch.utils.cpp_extension needs."""
    return any(EXTENSIONS in text for text in candidate.files.values())


def command(candidate: Candidate) -> Command:
    """The first import, as a command that leaves `ARCHIVE`."""
    own = {f"candidate/{name}": text.encode() for name, text in candidate.files.items()}
    return Command(
        argv=(sys.executable, "-m", "evaluator.harness.first_import", "candidate.py", ARCHIVE),
        files={**harness(), **own},
        collect=(ARCHIVE,),
    )
