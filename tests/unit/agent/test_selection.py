"""Which attempt is the best."""

from agent.api import Attempt, AttemptState
from agent.selection import best, ranked
from evaluator.evaluation import Verdict


def attempts(doubles, *judged):
    found = []
    for number, (speed, low, verdict) in enumerate(judged, 1):
        proposal = doubles.proposal("a", number)
        evaluation = doubles.evaluation(proposal.candidate, speed, low, verdict)
        found.append(Attempt(number, proposal, AttemptState.EVALUATED, evaluation, 1))
    return [*found, Attempt(len(found) + 1, doubles.proposal("a", 99), AttemptState.PROPOSED)]


def test_a_sure_gain_beats_a_larger_uncertain_one(doubles):
    found = attempts(doubles, (2.0, 1.1, Verdict.ACCEPTED), (1.5, 1.4, Verdict.ACCEPTED))
    assert best(found).number == 2
    assert [a.number for a in ranked(found)] == [2, 1]


def test_ties_go_to_the_better_mean_then_to_the_earlier(doubles):
    kind = Verdict.ACCEPTED
    assert best(attempts(doubles, (1.5, 1.2, kind), (1.6, 1.2, kind))).number == 2
    assert best(attempts(doubles, (1.5, 1.2, kind), (1.5, 1.2, kind))).number == 1


def test_rejected_ones_never_win(doubles):
    assert best(attempts(doubles, (9.0, 8.0, Verdict.INCORRECT))) is None
    assert best([]) is None
