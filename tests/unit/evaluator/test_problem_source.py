"""Foreign source read as bounded text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluator.problem.source import check_filled, check_text, parse_python, read_source


class Refused(Exception):
    """The caller's own error."""


def test_a_byte_order_mark_and_foreign_line_ends_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r")
    assert read_source(path, 100, Refused) == "x = 1\ny = 2\n"


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"\x7fELF\0\0", "binary or UTF-16"),
        ("x = 1".encode("utf-16"), "binary or UTF-16|not UTF-8"),
        (b"# \xe9\n", "not UTF-8"),
        (b"#" * 101, "larger than 100 bytes"),
    ],
)
def test_what_is_not_small_utf8_text_is_refused(tmp_path: Path, data: bytes, hint: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    with pytest.raises(Refused, match=hint):
        read_source(path, 100, Refused)


def test_missing_files_folders_and_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, hint in (("none.py", "does not exist"), (".", "is a folder"), ("pipe", "not a regular file")):
        with pytest.raises(Refused, match=hint):
            read_source(tmp_path / name, 100, Refused)


@pytest.mark.parametrize("text", ["", "  \n\t", "\ufeff", "\ufeff \n"])
def test_blank_text_is_empty(text: str) -> None:
    with pytest.raises(Refused, match="is empty"):
        check_filled(text, "it", Refused)


@pytest.mark.parametrize(("text", "hint"), [("a\0", "NUL"), ("\ud800", "surrogate"), ("é" * 6, "12 bytes")])
def test_text_that_cannot_be_a_small_file_is_refused(text: str, hint: str) -> None:
    with pytest.raises(Refused, match=hint):
        check_text(text, "it", 10, Refused)


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "x = " + "(" * 5000,
        "x = " + "-" * 50_000 + "1",
        "x = " + "1+" * 50_000 + "1",
        "x = " + "9" * 5000,
        "a\0b",
        "if x:\n pass\n" + "elif x:\n pass\n" * 20_000,
    ],
)
def test_source_that_python_cannot_parse_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse_python(text, "it", Refused)


def test_the_line_of_a_syntax_error_is_named_and_warnings_stay_silent() -> None:
    with pytest.raises(Refused, match="line 2"):
        parse_python("x = 1\ny = = 2\n", "it", Refused)
    assert parse_python("x = '\\d'\n", "it", Refused).body
