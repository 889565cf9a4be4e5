"""Foreign text can be shown, stored and hashed."""

import pytest

from evaluator.printable import printable


@pytest.mark.parametrize("text", ["plain", "Zeilen\n\tmit Umlauten: äöü", "", "π ≈ 3"])
def test_keeps_what_is_readable(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("nul\0", "nul\\x00"),
        ("half \ud800", "half \\ud800"),
        ("a\rb", "a\\rb"),
    ],
)
def test_shows_the_rest_as_escapes(text, shown):
    assert printable(text) == shown
    printable(text).encode()
