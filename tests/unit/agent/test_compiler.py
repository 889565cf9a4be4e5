"""The compiler proposer: its candidates are valid and compute what the reference does."""

import pytest
import torch

from agent.api import View
from agent.compiler import VARIANTS, CompilerProposer
from evaluator.problem.candidate import Style
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


def proposals(problem):
    return list(CompilerProposer().propose(View(problem, {}, (), 1)))


def test_there_are_few_and_all_differ(doubles):
    found = proposals(doubles.problem(FUNCTION))
    assert len(found) == len(VARIANTS) <= 4
    assert len({p.candidate.digest for p in found}) == len(found)


def test_candidates_are_entered_as_the_reference_is(doubles):
    function = doubles.problem(FUNCTION)
    module = doubles.problem(MODULE, ReferenceStyle.MODULE, "Model")
    for problem, style in ((function, Style.FUNCTIONAL), (module, Style.MODULE)):
        for proposal in proposals(problem):
            assert parse_candidate(proposal.candidate, problem).style is style


def test_every_option_is_one_that_the_compiler_knows():
    for _, options in VARIANTS:
        torch.compile(lambda x: x, options=dict(options))


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
