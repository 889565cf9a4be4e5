"""The layout of the shared page: nothing overlaps, and the numbers cannot be mistaken for one another."""

from __future__ import annotations

from evaluator.harness import page


def test_the_words_lie_before_the_text_and_the_text_ends_with_the_page() -> None:
    words = (page.GO, page.DONE, page.STATUS, page.LENGTH, page.BINDING)
    assert len(set(words)) == len(words)
    assert 8 * (max(words) + 1) <= page.TEXT
    assert page.TEXT + page.TEXT_BYTES == page.PAGE_BYTES


def test_leaving_is_no_number_of_a_call() -> None:
    assert page.LEAVE.bit_length() == 64
    assert page.LEAVE & (page.LEAVE + 1) == 0
    assert page.RETURNED != page.RAISED
