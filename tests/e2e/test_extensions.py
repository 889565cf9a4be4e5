"""A candidate with an extension, as docs/candidates.md shows it: built once, then judged like any other."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.build.tools import search_path
from tests.e2e.conftest import Tool

pytestmark = [
    pytest.mark.judge,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        shutil.which("g++") is None or shutil.which("ninja", path=search_path()) is None,
        reason="needs g++ and ninja",
    ),
]

DOCUMENT = Path(__file__).parents[2] / "docs" / "candidates.md"
PROBLEM = """
CONTRACT = {
    "axes": {"n": {"range": [1, 4194304]}},
    "workloads": [{"name": "a", "axes": {"n": 2097152}}],
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
    "baselines": ["torch_eager"],
}


def reference(x):
    return x * 2
"""


def test_the_documented_extension_is_built_once_and_right(
    tool: Tool, write: Callable[[str, str], Path]
) -> None:
    sources = DOCUMENT.read_text().split("```python\n")[1:]
    documented = next(s.split("```")[0] for s in sources if "load_inline" in s)
    problem, candidate = write("twice.py", PROBLEM), write("candidate.py", documented)
    first = tool("evaluate", problem, candidate, "--policy", "screen", "--json")
    assert first.json["gates"]["visible"] == "passed", first.json["reason"]
    again = tool("evaluate", problem, candidate, "--policy", "screen", "--json")
    built = [run.json["evaluation"]["gates"]["build"]["evidence"]["cached"] for run in (first, again)]
    assert built == [False, True]
