from types import SimpleNamespace

import pytest

from evaluator.judge.settling import MANY_FAULTS, MOST_CALLS, QUIET_CALLS, settle


@pytest.fixture
def made():
    """made(*faults): a call that needs so many pages each time, and the numbers it was called with."""

    def making(*faults: int):
        numbers: list[int] = []

        def call(number: int):
            numbers.append(number)
            return SimpleNamespace(faults=faults[min(number, len(faults) - 1)])

        return call, numbers

    return making


def test_a_few_calls_in_a_row_without_new_pages_are_enough(made):
    call, numbers = made(0)
    settle(call)
    assert numbers == list(range(QUIET_CALLS))


def test_new_pages_begin_the_count_again(made):
    call, numbers = made(1024, 0, 0, MANY_FAULTS, MANY_FAULTS - 1)
    settle(call)
    assert len(numbers) == 4 + QUIET_CALLS


def test_it_ends_where_an_implementation_takes_new_pages_for_ever(made):
    call, numbers = made(1024)
    settle(call)
    assert len(numbers) == MOST_CALLS
