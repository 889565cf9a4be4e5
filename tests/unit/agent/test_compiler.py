"""The compiler proposer: its candidates are valid and compute what the reference does."""

import dataclasses

import pytest
import torch

from agent.api import Attempt, AttemptState, View
from agent.compiler import FIRST, HOPELESS, CompilerProposer
from evaluator.evaluation import Verdict
from evaluator.problem.candidate import Candidate, Language, Style
from evaluator.problem.contract import ReferenceStyle
from evaluator.problem.entry import parse_candidate

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is:DeprecationWarning")

FUNCTION = "import torch\n\n\ndef reference(x, y):\n    return torch.relu(x) + y\n"
MODULE = """from __future__ import annotations
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features, bias: float = 1.0):
        super().__init__()
        self.linear = nn.Linear(features, 2)
        self.bias = bias

    def forward(self, x):
        return self.linear(x) + self.bias
"""


def proposals(problem, attempts=(), generated=lambda: None, threads=1):
    return list(CompilerProposer().propose(View(problem, {}, attempts, threads, generated)))


def test_all_differ_and_none_is_the_default(doubles):
    found = proposals(doubles.problem(FUNCTION))
    assert len({p.candidate.digest for p in found}) == len(found)
    assert all("options=" in p.candidate.main or "dynamic=True" in p.candidate.main for p in found)


def test_candidates_are_entered_as_the_reference_is(doubles):
    function = doubles.problem(FUNCTION)
    module = doubles.problem(MODULE, ReferenceStyle.MODULE, "Model")
    for problem, style in ((function, Style.FUNCTIONAL), (module, Style.MODULE)):
        for proposal in proposals(problem):
            assert parse_candidate(proposal.candidate, problem).style is style


def test_the_generated_code_comes_after_the_first_and_once(doubles):
    code = Candidate({"candidate.py": "def run(x): return x"}, Language.PYTHON)
    found = proposals(doubles.problem(FUNCTION), generated=lambda: code)
    place = [p.candidate for p in found].index(code)
    assert place == FIRST
    attempt = Attempt(1, found[place], AttemptState.EVALUATED)

    def never():
        raise AssertionError("it is known")

    assert code not in [p.candidate for p in proposals(doubles.problem(FUNCTION), (attempt,), never)]


def tried(doubles, found, *speeds):
    return tuple(
        Attempt(n, p, AttemptState.EVALUATED, doubles.evaluation(p.candidate, speed), 1)
        for n, (p, speed) in enumerate(zip(found, speeds, strict=False), 1)
    )


def test_what_paid_is_combined_and_says_where_it_came_from(doubles):
    problem = doubles.problem(FUNCTION)
    first = proposals(problem)
    attempts = tried(doubles, first, 1.1, 0.9, 0.8, 1.3)
    new = [
        p
        for p in proposals(problem, attempts)
        if p.candidate.digest not in {f.candidate.digest for f in first}
    ]
    assert new[0].parameters == {**first[0].parameters, **first[3].parameters}
    assert new[0].parents == (first[3].candidate.digest, first[0].candidate.digest)
    assert "attempts 4 and 1" in new[0].idea


def test_what_was_refused_is_not_combined(doubles):
    problem = doubles.problem(FUNCTION)
    first = proposals(problem)
    refused = doubles.evaluation(first[0].candidate, verdict=Verdict.INCORRECT)
    attempts = (Attempt(1, first[0], AttemptState.EVALUATED, refused, 1), *tried(doubles, first[:1], 1.2))
    assert len(proposals(problem, attempts)) == len(first)


def test_where_the_compiler_is_never_exact_enough_it_gives_up(doubles):
    problem = doubles.problem(FUNCTION)
    first = proposals(problem)
    refused = tuple(
        Attempt(
            n,
            p,
            AttemptState.EVALUATED,
            doubles.evaluation(p.candidate, verdict=Verdict.INCORRECT),
            1,
        )
        for n, p in enumerate(first[:HOPELESS], 1)
    )
    assert proposals(problem, refused[:-1]) != []
    assert proposals(problem, refused) == []
    accepted = dataclasses.replace(refused[0], evaluation=doubles.evaluation(first[0].candidate))
    assert proposals(problem, (accepted, *refused[1:])) != []


@pytest.fixture
def uncompiled():
    """Compiled functions run as they are, so that the test does not wait for a compiler."""
    with torch.compiler.set_stance("force_eager"):
        yield


def test_a_module_candidate_has_the_reference_s_parameters_and_result(doubles, uncompiled):
    problem = doubles.problem(MODULE, ReferenceStyle.MODULE, "Model")
    names: dict = {}
    exec(proposals(problem)[0].candidate.main, names)
    own, reference = names["ModelNew"](3, bias=2.0), names["Model"](3, bias=2.0)
    own.load_state_dict(reference.state_dict())
    x = torch.randn(5, 3)
    assert torch.equal(own(x), reference(x))


def test_a_function_candidate_gives_the_reference_s_result(doubles, uncompiled):
    names: dict = {}
    exec(proposals(doubles.problem(FUNCTION))[0].candidate.main, names)
    x, y = torch.randn(4), torch.randn(4)
    assert torch.equal(names["kernelwright_compiled"](x, y), names["reference"](x, y))
