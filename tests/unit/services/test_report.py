"""The report: self-contained, escaped, complete, and honest where nothing was found."""

from __future__ import annotations

import html.parser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.api import Proposal, View
from evaluator.problem.candidate import Candidate, Language

VOID = {"meta", "link", "br", "hr", "img", "line", "circle", "rect", "path", "polyline"}


class Page(html.parser.HTMLParser):
    """Checks that tags nest, and collects what would load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.external: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        loads = [v for k, v in attrs if k in ("src", "href") and v]
        self.external += [v for v in loads if not v.startswith(("data:", "#"))]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(shell: Any, problem_file: Path) -> str:
    _, result = shell.json("optimize", problem_file)
    return Path(result["report"]).read_text()


def test_it_is_whole_and_needs_nothing_else(shell: Any, problem_file: Path) -> None:
    text = page(shell, problem_file)
    parsed = Page(text)
    assert parsed.open == []
    assert parsed.external == []
    assert "script" not in parsed.tags
    assert "url(" not in text
    assert "@import" not in text


def test_it_tells_everything(shell: Any, problem_file: Path) -> None:
    text = page(shell, problem_file)
    for words in (
        "1.50× faster",
        "strongest baseline",
        "idea 0 of template",
        "off by 0.1",
        "block=0",
        "torch_eager",
        "released calls",
        "did not hold",
        "a double",
        "2.13.0",
        "Reference source",
        "worst",
    ):
        assert words in text, words
    assert len(re.findall(r'<g class="point ', text)) == 3


def test_foreign_text_is_escaped(shell: Any, problem_file: Path, proposer: Any) -> None:
    attack = r"<script>alert(1)</script>\u001b[31m"
    shell.offered = (
        proposer("</td><script>", [f'incorrect {{"reason": "{attack}"}}', 'accepted {"speedup": 2}']),
    )
    text = page(shell, problem_file)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "\x1b" not in text
    assert Page(text).open == []


def test_nothing_found_is_said(shell: Any, problem_file: Path, proposer: Any) -> None:
    shell.offered = (proposer("template", ['incorrect {"reason": "all zeros"}']),)
    text = page(shell, problem_file)
    assert "Nothing better was found." in text
    assert "of the last evaluation" in text
    assert Page(text).open == []


def test_a_gain_that_was_not_confirmed_is_no_headline(shell: Any, problem_file: Path, proposer: Any) -> None:
    shell.offered = (proposer("template", ['accepted {"speedup": 1.3, "confirm": 0.99}']),)
    text = page(shell, problem_file)
    assert "× faster" not in text
    assert "was not confirmed" in text
    assert "not held: 0.990×" in text
    assert Page(text).open == []


def test_it_says_where_an_attempt_came_from(shell: Any, problem_file: Path) -> None:
    class Breeder:
        """Offers a candidate, and one made from it."""

        name = "breeder"

        def propose(self, view: View) -> Iterator[Proposal]:
            first = Candidate({"candidate.py": '# accepted {"speedup": 1.2}\n'}, Language.PYTHON)
            second = Candidate({"candidate.py": '# accepted {"speedup": 1.4}\n'}, Language.PYTHON)
            yield Proposal(first, self.name, "the first")
            yield Proposal(second, self.name, "made better", parents=(first.digest,))

    shell.offered = (Breeder(),)
    text = page(shell, problem_file)
    assert '<a href="#attempt-1">1</a>' in text
    assert "from 1: made better" in text
    assert Page(text).open == []


def test_a_job_without_attempts(shell: Any, problem_file: Path) -> None:
    shell.offered = ()
    text = page(shell, problem_file)
    assert "Nothing was attempted." in text
    assert Page(text).open == []
