"""The template proposer: kernels from `agent.templates`, their parameters searched by Optuna."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.api import Attempt, Proposal, View
from agent.selection import best
from agent.templates import TEMPLATES
from agent.templates.template import Choices, Match, Parameters, Template, default_of
from evaluator.canonical import digest
from evaluator.evaluation import Verdict
from evaluator.problem.candidate import Candidate, Language

NAME = "template"


@dataclass(frozen=True)
class _Fit:
    """A template that fits, and the attempts made with it."""

    template: Template
    match: Match
    attempts: tuple[Attempt, ...]

    @property
    def best(self) -> Attempt | None:
        """The fastest of its attempts that were accepted."""
        return best(self.attempts)

    @property
    def speedup(self) -> float:
        """The speedup of the fastest, 0 where there is none."""
        return (_value(self.best) or 0.0) if self.best else 0.0


class TemplateProposer:
    """Proposes candidates where a template matches the traced graphs of all workloads.

    First the likeliest parameters of every such template, the least bound on its time first; then Optuna's choice
    for the template with the fastest candidate so far, and for the others when its parameters are exhausted. A
    parameter set is proposed once.
    """

    name = NAME

    def __init__(self, templates: Sequence[Template] = TEMPLATES) -> None:
        self._templates = templates

    def propose(self, view: View) -> Iterator[Proposal]:
        """Nothing where no template matches, or where all parameters were tried."""
        fits = self._fits(view)
        for fit in fits:
            if not fit.attempts:
                yield from itertools.islice(_proposals(fit, view), 1)
        for fit in sorted(fits, key=lambda f: f.speedup, reverse=True):
            yield from _proposals(fit, view)

    def _fits(self, view: View) -> list[_Fit]:
        found = []
        for template in self._templates if view.graphs and not _bakes_in(view) else ():
            match = template.match(view.graphs)
            if match is not None:
                found.append(_Fit(template, match, _own(template.name, view.attempts)))
        return sorted(found, key=lambda f: _bound(f, ordered(f.template, f.match, view.threads)[0], view))


def _bakes_in(view: View) -> bool:
    """Whether the graphs hold as literals what the caller may change: numbers among the arguments."""
    numbers = {f"x{i}" for i, spec in enumerate(view.problem.contract.inputs or ()) if spec.scalar}
    return any(numbers - {v.id for v in graph.inputs} for graph in view.graphs.values())


def ordered(template: Template, match: Match, threads: int) -> list[dict[str, int | str | bool]]:
    """Every combination of a template's parameters: first what the template itself thinks best, then by the least
    time that each can take; of equals, those closer to that guess."""
    choices = template.choices(match)
    grid = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    first = default_of(choices)

    def rank(parameters: Parameters) -> tuple[float, int]:
        changed = sum(parameters[name] != first[name] for name in choices)
        return template.cost(match, parameters).seconds(threads), changed

    return [first, *sorted((p for p in grid if p != first), key=rank)]


def _proposals(fit: _Fit, view: View) -> Iterator[Proposal]:
    from agent.tuning import Trial, suggestions  # noqa: PLC0415 - Optuna takes a third of a second to import

    template, choices = fit.template, fit.template.choices(fit.match)
    trials = [Trial(_parameters(a, choices), _value(a)) for a in fit.attempts]
    trials = [t for t in trials if set(t.parameters) == set(choices)]
    order = ordered(template, fit.match, view.threads)
    for parameters in suggestions(choices, order, trials, _seed(view, template)):
        source = template.render(fit.match, parameters)
        spoken = ", ".join(f"{name} {value}" for name, value in parameters.items())
        yield Proposal(
            candidate=Candidate({"candidate.cpp": source}, Language.CPP),
            proposer=NAME,
            idea=f"{template.name}: {spoken}",
            parameters={"template": template.name, **parameters},
            parents=(fit.best.proposal.candidate.digest,) if fit.best else (),
        )


def _seed(view: View, template: Template) -> int:
    """Of a problem, a template and how far the search has come."""
    return int(digest([view.problem.digest, template.name, len(view.attempts)])[:8], 16)


def _bound(fit: _Fit, parameters: Parameters, view: View) -> float:
    return fit.template.cost(fit.match, parameters).seconds(view.threads)


def _own(template: str, attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    return tuple(
        a
        for a in attempts
        if a.proposal.proposer == NAME and a.proposal.parameters.get("template") == template
    )


def _value(attempt: Attempt) -> float | None:
    """The speedup of an attempt; 0 where it was judged and not accepted; None where it was not judged."""
    if attempt.evaluation is None:
        return None
    timing = attempt.evaluation.timing
    accepted = attempt.evaluation.verdict is Verdict.ACCEPTED
    return timing.speedup.value if timing is not None and accepted else 0.0


def _parameters(attempt: Attempt, choices: Choices) -> Mapping[str, int | str | bool]:
    """Its parameters, as far as they are still choices."""
    return {
        name: value
        for name, value in attempt.proposal.parameters.items()
        if isinstance(value, (int, str, bool)) and value in choices.get(name, ())
    }
