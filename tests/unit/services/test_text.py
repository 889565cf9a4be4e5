"""Foreign text cannot steer a terminal, disguise itself or flood."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.text import clean, line, storable


def test_escape_sequences_go_as_a_whole() -> None:
    assert clean("\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07\x08") == "red bell"


def test_bidirectional_overrides_go() -> None:
    assert clean("a\u202eb\u2066c") == "abc"


def test_newlines_stay_and_carriage_returns_go() -> None:
    assert clean("one\r\ntwo\rthree\tfour") == "one\ntwothree\tfour"


def test_a_cut_is_marked() -> None:
    assert clean("x" * 11, 10) == "x" * 10 + " …"
    assert clean("x" * 10, 10) == "x" * 10


def test_a_line_is_one_line() -> None:
    assert line("a\n\n  b\tc") == "a b c"


@given(st.text())
def test_nothing_unprintable_is_left(text: str) -> None:
    shown = clean(text)
    assert all(c in "\n\t" or c.isprintable() or c.isspace() or ord(c) > 127 for c in shown)
    assert "\x1b" not in shown


@given(st.text(alphabet=st.characters()))
def test_storable_text_can_be_encoded(text: str) -> None:
    stored = storable(text + "\0\ud800")
    assert "\0" not in stored
    stored.encode()
