"""A proposed implementation: a set of source files, immutable, named by content hash.

Errors:

    CandidateError     not a candidate at all (empty, binary, too large, no entry point); becomes the verdict
                       of gate `parse`, never an exception of the service
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.canonical import digest

MAX_SOURCE_BYTES = 1 << 20


class CandidateError(Exception):
    """The files are not a candidate; the text says what is wrong."""


class Language(enum.StrEnum):
    """What a candidate is written in."""

    PYTHON = "python"
    CPP = "cpp"


class Style(enum.StrEnum):
    """How a candidate is called."""

    MODULE = "module"
    FUNCTIONAL = "functional"
    DESTINATION = "destination"


@dataclass(frozen=True)
class Candidate:
    """Source files by relative name. The main file is `candidate.py` or `candidate.cpp`."""

    files: Mapping[str, str]
    language: Language

    @property
    def digest(self) -> str:
        """SHA-256 of language and files."""
        return digest({"language": self.language, "files": dict(self.files)})

    @property
    def main(self) -> str:
        """The text of the main file."""
        return self.files["candidate.py" if self.language is Language.PYTHON else "candidate.cpp"]


@dataclass(frozen=True)
class Entry:
    """Where a candidate is entered, found by parsing. `style` is None when only the number of parameters
    compared with the reference's can tell (done in the runner)."""

    name: str
    style: Style | None
