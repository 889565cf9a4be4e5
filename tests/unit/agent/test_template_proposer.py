"""The template proposer: what it offers, and how it goes on from what was tried."""

import pytest
import torch

from agent.api import Attempt, AttemptState, View
from agent.template_proposer import TemplateProposer
from evaluator.evaluation import Verdict
from evaluator.problem.candidate import Language
from evaluator.problem.entry import parse_candidate


@pytest.fixture
def view(doubles, call, graph_of):
    graph = graph_of(call(lambda x: torch.softmax(x, -1), [torch.randn(4, 64)]))

    def viewing(attempts=()):
        return View(doubles.problem(), {"w": graph}, attempts, 1)

    return viewing


def judged(doubles, number, proposal, speed):
    verdict = Verdict.ACCEPTED if speed else Verdict.INCORRECT
    evaluation = doubles.evaluation(proposal.candidate, speed, verdict=verdict)
    return Attempt(number, proposal, AttemptState.EVALUATED, evaluation, 1)


def search(view, doubles, speed_of, steps):
    """The attempts of a search that takes the proposer's first word in every step."""
    attempts = []
    for number in range(1, steps + 1):
        proposal = next(TemplateProposer().propose(view(tuple(attempts))), None)
        if proposal is None:
            break
        attempts.append(judged(doubles, number, proposal, speed_of(proposal.parameters)))
    return attempts


def test_it_offers_valid_compiled_candidates_that_say_their_parameters(view):
    found = list(TemplateProposer().propose(view()))
    assert len(found) > 3
    assert all(p.candidate.language is Language.CPP for p in found)
    assert parse_candidate(found[0].candidate, view().problem).name == "kernelwright_run"
    assert found[0].parameters["template"] == "row reduction"
    assert found[0].parameters["store"] == "cached"


def test_a_search_tries_each_set_of_parameters_once_and_ends(view, doubles):
    attempts = search(view, doubles, lambda p: 1.0, 1000)
    sets = [tuple(sorted(a.proposal.parameters.items())) for a in attempts]
    assert len(sets) == len(set(sets)) < 1000


def test_it_finds_good_parameters_sooner_than_by_going_through_all(view, doubles):
    def speed(parameters):
        return 1.0 + (parameters["unroll"] == 2) + (parameters["keep"] == "none")

    whole = len(search(view, doubles, speed, 1000))
    attempts = search(view, doubles, speed, whole // 2)
    assert max(a.evaluation.timing.speedup.value for a in attempts) == 3.0


def test_the_same_attempts_lead_to_the_same_proposal(view, doubles):
    attempts = tuple(search(view, doubles, lambda p: float(p["unroll"]), 8))
    first, again = (next(TemplateProposer().propose(view(attempts))) for _ in range(2))
    assert first.candidate == again.candidate


def test_it_goes_on_from_the_fastest_and_after_failures(view, doubles):
    attempts = search(view, doubles, lambda p: float(p["unroll"] == 8), 6)
    proposal = next(TemplateProposer().propose(view(tuple(attempts))))
    accepted = [a for a in attempts if a.evaluation.verdict is Verdict.ACCEPTED]
    assert proposal.parents == ((accepted[0].proposal.candidate.digest,) if accepted else ())
    assert proposal.candidate not in [a.proposal.candidate for a in attempts]


def test_it_is_silent_where_nothing_matches(doubles, call, graph_of):
    graph = graph_of(call(lambda x: torch.fft.fft(x).real, [torch.randn(4, 4)]))
    assert list(TemplateProposer().propose(View(doubles.problem(), {"w": graph}, (), 1))) == []
    assert list(TemplateProposer().propose(View(doubles.problem(), {}, (), 1))) == []
