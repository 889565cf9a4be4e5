"""The pages on problems and candidates say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluator.evaluation import Verdict
from evaluator.problem.candidate import Candidate, Language, Style
from evaluator.problem.contract import DTYPES, DistributionKind, Layout
from evaluator.problem.entry import parse_candidate
from evaluator.problem.load import parse_problem
from evaluator.problem.native_schema import KEYS

ROOT = Path(__file__).parents[3]
PROBLEMS = (ROOT / "docs" / "problems.md").read_text()
CANDIDATES = (ROOT / "docs" / "candidates.md").read_text()
HEADER = (ROOT / "evaluator" / "build" / "kernelwright.h").read_text()


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page."""
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return found


def test_the_problems_shown_can_be_loaded() -> None:
    python, toml = blocks(PROBLEMS, "python"), blocks(PROBLEMS, "toml")
    assert parse_problem("p", python[0]).contract.workloads[0].weight == 3
    assert parse_problem("p", "def reference(x, weight): pass\n", toml[0]).contract.name == "layer_norm"


def test_every_key_and_value_is_described() -> None:
    rows = [f"| `{key}` |" for key in [*KEYS, *DistributionKind]]
    words = [*(f'"{layout.value}"' for layout in Layout), *DTYPES]
    missing = [w for w in [*rows, *words] if w not in PROBLEMS]
    assert not missing


@pytest.mark.parametrize("style", list(Style))
def test_each_style_shown_is_recognised(style: Style) -> None:
    shown = dict(
        zip(
            (Style.MODULE, Style.FUNCTIONAL, Style.DESTINATION), blocks(CANDIDATES, "python")[:3], strict=True
        )
    )
    toml = "inputs = {x = T, weight = T}\noutputs.y = T\n".replace("T", '{shape = [2], dtype = "float32"}')
    problem = parse_problem("p", "def reference(x, weight): pass\n", toml)
    assert parse_candidate(Candidate({"candidate.py": shown[style]}, Language.PYTHON), problem).style is style


def test_the_header_is_quoted_as_it_is() -> None:
    fields = re.compile(r"^    (?:const )?\w+ \**\w+;", re.MULTILINE)
    assert fields.findall(blocks(CANDIDATES, "c")[0]) == fields.findall(HEADER)
    codes = re.findall(r"(KW_\w+) = (\d+)", HEADER)
    assert codes == re.findall(r"\| `(KW_\w+)` \| (\d+) \|", CANDIDATES)


def test_every_verdict_is_explained() -> None:
    missing = [v.value for v in Verdict if f"`{v.value}`" not in CANDIDATES]
    assert not missing
