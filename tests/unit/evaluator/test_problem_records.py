"""A stored problem comes back with its digest; anything else is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.problem.load import load_problem
from evaluator.problem.records import (
    contract_from_json,
    contract_to_json,
    problem_from_json,
    problem_to_json,
)

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_example_survives_json(path: Path) -> None:
    problem = load_problem(path)
    again = problem_from_json(json.loads(json.dumps(problem_to_json(problem))))
    assert again == problem
    assert again.digest == problem.digest


@pytest.mark.parametrize(
    "change", [{"mode": None, "surprise": 1}, {"workloads": [{}]}, {"precision": "sloppy"}]
)
def test_anything_else_is_refused(change: dict[str, object]) -> None:
    data = contract_to_json(load_problem(EXAMPLES[0]).contract)
    with pytest.raises(ValueError):
        contract_from_json(data | change)
