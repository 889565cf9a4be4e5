"""Policies are named, and each asks for all that a lesser one does."""

from __future__ import annotations

import pytest

from evaluator.evaluation import Gate
from evaluator.judge.policy import POLICIES, policy


def test_a_stricter_policy_asks_for_more() -> None:
    screen, search, qualify = (policy(n) for n in ("screen", "search", "qualify"))
    assert screen.mandatory < search.mandatory < qualify.mandatory == frozenset(Gate)
    assert screen.pairs <= search.pairs <= qualify.pairs
    assert screen.rounds <= search.rounds <= qualify.rounds


def test_a_confirmation_asks_for_what_the_search_does_of_new_processes() -> None:
    search, confirm = policy("search"), policy("confirm")
    assert confirm.mandatory == search.mandatory
    assert confirm.restarts > search.restarts
    assert [p.name for p in POLICIES.values() if p.fresh] == ["confirm"]


def test_every_policy_times_over_at_least_three_restarts() -> None:
    for chosen in POLICIES.values():
        assert chosen.restarts >= 3
        assert 1 <= chosen.least_pairs <= chosen.pairs
        assert chosen.warm_ups >= 1
        assert Gate.TIME in chosen.mandatory
        assert Gate.MEMORY in chosen.mandatory


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no policy 'seach'; choose one of screen, search, confirm, qualify"):
        policy("seach")
