"""Which parameters to try next, by Optuna, from what has been tried.

Nothing is kept between calls: the study is made anew from the values found so far, with a seed that the caller
derives from its job. So any process goes on where another has stopped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import optuna

Value = int | str | bool
Choices = Mapping[str, tuple[Value, ...]]

STARTUP = 4
"""Parameters tried in the caller's order before the estimator has a say."""

ASKS = 24
"""How often the estimator may name what has been tried before the next in order is taken."""


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried, and what came of it: the larger the better, 0 for a failure, None while nothing
    is known."""

    parameters: Mapping[str, Value]
    value: float | None


def suggestions(
    choices: Choices, order: Sequence[Mapping[str, Value]], trials: Sequence[Trial], seed: int
) -> Iterator[dict[str, Value]]:
    """Parameters that were not tried, the most promising first, each once, until none is left.

    choices: the values of each parameter. order: every combination of them, the likeliest first.
    """
    tried = {_key(t.parameters) for t in trials}
    left = {_key(p): dict(p) for p in order if _key(p) not in tried}
    startup = itertools.islice(list(left.values()), max(0, STARTUP - len(trials)))
    for parameters in startup:
        del left[_key(parameters)]
        yield parameters
    study = _study(choices, trials, seed) if left else None
    while left and study is not None:
        key = next((k for k in _asked(study, choices) if k in left), next(iter(left)))
        yield left.pop(key)


def _key(parameters: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(parameters.items()))


def _asked(study: optuna.Study, choices: Choices) -> Iterator[tuple[tuple[str, Value], ...]]:
    for _ in range(ASKS):
        yield _key(study.ask(_distributions(choices)).params)


def _study(choices: Choices, trials: Sequence[Trial], seed: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for trial in trials:
        if trial.value is not None:
            study.add_trial(
                optuna.trial.create_trial(
                    params=dict(trial.parameters),
                    distributions=_distributions(choices),
                    value=trial.value,
                )
            )
    return study


def _distributions(choices: Choices) -> dict[str, optuna.distributions.BaseDistribution]:
    return {name: optuna.distributions.CategoricalDistribution(values) for name, values in choices.items()}
