"""Secret seeds: replayable by who has the master, unlike one another, and unguessable otherwise."""

from __future__ import annotations

from evaluator.judge.seeds import PUBLIC_SEED, Seeds


def test_a_master_replays_all_its_seeds() -> None:
    first = Seeds()
    again = Seeds(first.master)
    purposes = ["inputs", "weights", "inputs", "order"]
    assert [first.next(p) for p in purposes] == [again.next(p) for p in purposes]


def test_seeds_differ_by_turn_purpose_and_master_and_fit_torch() -> None:
    seeds = [s.next(p) for s in (Seeds("a"), Seeds("b")) for p in ("inputs", "inputs", "weights")]
    seeds += [Seeds("a").next("other")]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= s < 1 << 63 for s in seeds)


def test_masters_are_drawn_anew() -> None:
    assert len({Seeds().master for _ in range(20)}) == 20


def test_public_seeds_are_the_one_that_everybody_tries() -> None:
    public = Seeds(public=True)
    assert {public.next("inputs"), public.next("weights")} == {PUBLIC_SEED}
