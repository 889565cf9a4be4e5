"""Which attempt came from which."""

import dataclasses

from agent.api import Attempt, AttemptState
from agent.lineage import ancestry, parents


def family(doubles, *origins):
    """Attempts made from those whose numbers are given."""
    made = []
    for number, origin in enumerate(origins, 1):
        proposal = doubles.proposal("a", number)
        digests = tuple(made[n - 1].proposal.candidate.digest for n in origin)
        made.append(Attempt(number, dataclasses.replace(proposal, parents=digests), AttemptState.PROPOSED))
    return made


def test_parents_are_told_by_number(doubles):
    made = family(doubles, (), (1,), (1, 2), ())
    assert parents(made) == {2: (1,), 3: (1, 2)}


def test_ancestry_goes_back_to_the_first(doubles):
    made = family(doubles, (), (1,), (), (2, 3), (1,))
    assert ancestry(made, 4) == [1, 2, 3, 4]
    assert ancestry(made, 3) == [3]


def test_a_parent_of_another_job_is_left_out(doubles):
    (only,) = family(doubles, ())
    stray = dataclasses.replace(only.proposal, parents=("elsewhere",))
    assert parents([dataclasses.replace(only, proposal=stray)]) == {}
