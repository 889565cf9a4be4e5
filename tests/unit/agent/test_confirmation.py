"""What counts as confirmed, and what is confirmed next."""

import dataclasses

import pytest

from agent.api import Attempt, AttemptState
from agent.confirmation import COST, MOST, confirmed, holds, reserve, sure_gain, to_confirm
from evaluator.evaluation import Interval, Verdict

FLOOR = 0.98


@pytest.fixture
def attempt(doubles):
    """attempt(number, searched, confirmed): evaluations with these lower ends of the speedup."""

    def made(number, searched, confirmation=None, tries=None):
        proposal = doubles.proposal("a", number)

        def judged(low):
            return doubles.evaluation(proposal.candidate, low * 1.02, low)

        return Attempt(
            number=number,
            proposal=proposal,
            state=AttemptState.EVALUATED,
            evaluation=judged(searched),
            tries=1,
            confirmation=None if confirmation is None else judged(confirmation),
            confirmation_tries=(confirmation is not None) if tries is None else tries,
        )

    return made


def test_a_corrected_interval_is_wider():
    assert sure_gain(Interval(1.2, 1.1, 1.3)) == pytest.approx(1.2 * (1.1 / 1.2) ** 1.2214, rel=1e-3)
    assert sure_gain(Interval(1.0, 1.0, 1.0)) == 1.0


def test_a_confirmation_holds_where_the_corrected_lower_end_is_a_gain(doubles):
    candidate = doubles.proposal("a", 1).candidate
    assert holds(doubles.evaluation(candidate, 1.10, 1.05), FLOOR)
    assert not holds(doubles.evaluation(candidate, 1.10, 1.005), FLOOR), (
        "a gain for one, not for the best of many"
    )
    assert not holds(doubles.evaluation(candidate, verdict=Verdict.INCORRECT), FLOOR)


def test_a_workload_below_the_contract_s_floor_does_not_hold(doubles):
    judged = doubles.evaluation(doubles.proposal("a", 1).candidate, 1.5, 1.4)
    slow = dataclasses.replace(judged.timing.workloads[0], speedup=Interval(0.9, 0.8, 1.0))
    timing = dataclasses.replace(judged.timing, workloads=(slow,))
    assert not holds(dataclasses.replace(judged, timing=timing), FLOOR)


def test_the_best_find_is_confirmed_first(attempt):
    assert to_confirm([attempt(1, 1.2), attempt(2, 1.4), attempt(3, 0.9)], FLOOR).number == 2


def test_nothing_is_confirmed_that_is_no_find(attempt):
    assert to_confirm([attempt(1, 0.9)], FLOOR) is None
    assert to_confirm([], FLOOR) is None


def test_after_one_that_held_nothing_is_confirmed_unless_something_better_comes(attempt):
    held = [attempt(1, 1.2), attempt(2, 1.4, 1.3)]
    assert to_confirm(held, FLOOR) is None
    assert confirmed(held, FLOOR).number == 2
    assert to_confirm([*held, attempt(3, 1.8)], FLOOR).number == 3


def test_of_several_that_held_the_surest_counts(attempt):
    assert confirmed([attempt(1, 1.4, 1.3), attempt(2, 1.6, 1.5)], FLOOR).number == 2


def test_there_are_at_most_so_many(attempt):
    failed = [attempt(n, 2.0, 0.9) for n in range(1, MOST + 1)]
    assert to_confirm([*failed[1:], attempt(9, 1.5)], FLOOR).number == 9
    assert to_confirm([*failed, attempt(9, 1.5)], FLOOR) is None
    begun = [*failed[1:], attempt(9, 1.5, tries=1)]
    assert to_confirm(begun, FLOOR).number == 9, "one that was begun is gone on with"


def test_one_on_which_the_machine_keeps_failing_is_given_up(attempt):
    assert to_confirm([attempt(1, 2.0, tries=3), attempt(2, 1.5)], FLOOR).number == 2


def test_as_much_time_is_kept_as_the_longest_evaluation_took(attempt):
    slow = attempt(1, 1.2)
    slow = dataclasses.replace(slow, evaluation=dataclasses.replace(slow.evaluation, stages={"time": 40.0}))
    assert reserve([slow, attempt(2, 1.4)], FLOOR) == 40.0 * COST
    assert reserve([dataclasses.replace(slow, confirmation=slow.evaluation)], FLOOR) == 0.0
