"""The template proposer: what it offers, and how it goes on from the best so far."""

import pytest
import torch

from agent.api import Attempt, AttemptState, View
from agent.template_proposer import TemplateProposer, neighbours
from evaluator.problem.candidate import Language
from evaluator.problem.entry import parse_candidate


@pytest.fixture
def view(doubles, call, graph_of):
    graph = graph_of(call(lambda x: torch.softmax(x, -1), [torch.randn(4, 64)]))

    def viewing(attempts=()):
        return View(doubles.problem(), {"w": graph}, attempts, 1)

    return viewing


def test_it_offers_valid_compiled_candidates_the_best_guess_first(view):
    found = list(TemplateProposer().propose(view()))
    assert len(found) > 3
    assert all(p.candidate.language is Language.CPP for p in found)
    assert parse_candidate(found[0].candidate, view().problem).name == "kernelwright_run"
    assert found[0].parameters["template"] == "row reduction"


def test_it_goes_on_from_the_fastest_so_far(view, doubles):
    first, second, *_ = TemplateProposer().propose(view())
    attempts = [
        Attempt(n, p, AttemptState.EVALUATED, doubles.evaluation(p.candidate, speed), 1)
        for n, (p, speed) in enumerate([(first, 1.0), (second, 2.0)], 1)
    ]
    later = list(TemplateProposer().propose(view(attempts)))[1:]
    assert all(p.parents == (second.candidate.digest,) for p in later)
    changed = [k for k in second.parameters if second.parameters[k] != first.parameters[k]]
    assert any(all(p.parameters[k] == second.parameters[k] for k in changed) for p in later)
    known = {first.candidate.digest, second.candidate.digest}
    assert any(p.candidate.digest not in known for p in later)


def test_it_is_silent_where_nothing_matches(doubles, call, graph_of):
    graph = graph_of(call(lambda x: x @ x, [torch.randn(4, 4)]))
    assert list(TemplateProposer().propose(View(doubles.problem(), {"w": graph}, (), 1))) == []
    assert list(TemplateProposer().propose(View(doubles.problem(), {}, (), 1))) == []


def test_neighbours_differ_in_one_parameter():
    choices = {"a": (1, 2, 3), "b": (True, False)}
    found = list(neighbours({"a": 2, "b": True}, choices))
    assert found == [{"a": 1, "b": True}, {"a": 3, "b": True}, {"a": 2, "b": False}]
