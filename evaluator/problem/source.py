"""Reading foreign source as text: bounded, decoded, parsed, never imported.

Every function takes `refuse`, the exception type of its caller (ProblemError, CandidateError), and raises it
with a text that names the file and says what to change.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from pathlib import Path

Refuse = Callable[[str], Exception]


def read_source(path: Path, limit: int, refuse: Refuse) -> str:
    """The text of a regular file of at most `limit` bytes, as UTF-8 without a byte order mark, lines ended by
    a newline alone."""
    try:
        if path.is_dir():
            raise refuse(f"{path} is a folder; give a file")
        if not path.is_file():
            raise refuse(f"{path} {'is not a regular file' if path.exists() else 'does not exist'}")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as e:
        raise refuse(f"{path} cannot be read: {e.strerror}") from e
    if len(data) > limit:
        raise refuse(f"{path} is larger than {limit} bytes; keep data out of the source")
    return decode(data, str(path), refuse)


def decode(data: bytes, what: str, refuse: Refuse) -> str:
    """`data` as text, see `read_source`. Refuses bytes that are not UTF-8 and NUL."""
    if b"\0" in data:
        raise refuse(f"{what} is binary or UTF-16 (it contains NUL bytes); save it as UTF-8 text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise refuse(f"{what} is not UTF-8 text (byte {e.start}); save it as UTF-8") from e
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_filled(text: str, what: str, refuse: Refuse) -> None:
    """Refuse text that is empty or blank."""
    if not text.strip().strip("\ufeff").strip():
        raise refuse(f"{what} is empty")


def check_text(text: str, what: str, limit: int, refuse: Refuse) -> None:
    """Refuse text that is too large (bytes of UTF-8), holds NUL, or cannot be written as UTF-8."""
    if "\0" in text:
        raise refuse(f"{what} contains a NUL character; give UTF-8 text")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as e:
        raise refuse(f"{what} contains a lone surrogate (character {e.start}); give UTF-8 text") from e
    if size > limit:
        raise refuse(f"{what} has {size} bytes; at most {limit} are taken")


def parse_python(text: str, what: str, refuse: Refuse) -> ast.Module:
    """The syntax tree of Python source. Warnings of the parser are the author's business and not shown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as e:
        raise refuse(f"{what} is not valid Python: line {e.lineno}: {e.msg}") from e
    except (ValueError, RecursionError, MemoryError) as e:
        raise refuse(f"{what} cannot be parsed: it is nested too deeply or holds a number too long") from e
