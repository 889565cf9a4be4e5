"""Parameters by Optuna: each once, until none is left, from what was tried."""

import itertools

from agent.tuning import STARTUP, Trial, suggestions

CHOICES = {"unroll": (4, 8, 2), "store": ("cached", "streamed"), "keep": ("costly", "none")}
ORDER = [dict(zip(CHOICES, v, strict=True)) for v in itertools.product(*CHOICES.values())]


def test_the_first_follow_the_given_order():
    found = list(itertools.islice(suggestions(CHOICES, ORDER, [], seed=1), STARTUP))
    assert found == ORDER[:STARTUP]


def test_every_combination_comes_once_and_none_that_was_tried():
    tried = [Trial(p, 1.0) for p in ORDER[:3]] + [Trial(ORDER[7], None), Trial(ORDER[9], 0.0)]
    found = list(suggestions(CHOICES, ORDER, tried, seed=1))
    assert len(found) == len(ORDER) - 5
    assert not any(t.parameters in found for t in tried)
    assert all(found.count(p) == 1 for p in found)


def test_what_was_good_is_looked_at_more_closely():
    def value(p):
        return 2.0 if p["store"] == "streamed" else 1.0

    trials = [Trial(p, value(p)) for p in ORDER[::2]] + [Trial(p, value(p)) for p in ORDER[1:4:2]]
    firsts = [next(suggestions(CHOICES, ORDER, trials, seed))["store"] for seed in range(20)]
    assert firsts.count("streamed") > 10


def test_the_same_seed_gives_the_same():
    trials = [Trial(p, float(i)) for i, p in enumerate(ORDER[:6])]
    one, other = (list(suggestions(CHOICES, ORDER, trials, seed=3)) for _ in range(2))
    assert one == other
