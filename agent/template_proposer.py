"""The template proposer: kernels from `agent.templates`, their parameters searched from the best guess outwards.

First the best guess of every template that matches, then its neighbours: one parameter changed at a time, from
the fastest so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.api import Attempt, Proposal, View
from agent.selection import ranked
from agent.templates import TEMPLATES
from agent.templates.template import Choices, Match, Parameters, Template, default_of
from evaluator.problem.candidate import Candidate, Language

NAME = "template"


class TemplateProposer:
    """Proposes C++ candidates where a template matches the traced graphs of all workloads."""

    name = NAME

    def __init__(self, templates: Sequence[Template] = TEMPLATES) -> None:
        self._templates = templates

    def propose(self, view: View) -> Iterator[Proposal]:
        """The best guess, then neighbours of the best so far; nothing where no template matches."""
        for template in self._templates:
            match = template.match(view.graphs) if view.graphs else None
            if match is not None:
                yield from _proposals(template, match, view)


def _proposals(template: Template, match: Match, view: View) -> Iterator[Proposal]:
    choices = template.choices(match)
    best = _best(template.name, view.attempts)
    parents = (best.proposal.candidate.digest,) if best else ()
    start = {**default_of(choices), **(_parameters(best, choices) if best else {})}
    for parameters in (default_of(choices), *neighbours(start, choices)):
        source = template.render(match, parameters)
        spoken = ", ".join(f"{name} {value}" for name, value in parameters.items())
        yield Proposal(
            candidate=Candidate({"candidate.cpp": source}, Language.CPP),
            proposer=NAME,
            idea=f"{template.name}: {spoken}",
            parameters={"template": template.name, **parameters},
            parents=parents,
        )


def neighbours(start: Parameters, choices: Choices) -> Iterator[dict[str, int | str | bool]]:
    """Everything that differs from `start` in one parameter, each parameter's values in order of promise."""
    for name, values in choices.items():
        for value in values:
            if value != start[name]:
                yield {**start, name: value}


def _best(template: str, attempts: Sequence[Attempt]) -> Attempt | None:
    """The fastest accepted attempt of this template."""
    own = (
        a
        for a in attempts
        if a.proposal.proposer == NAME and a.proposal.parameters.get("template") == template
    )
    return next(iter(ranked(own)), None)


def _parameters(attempt: Attempt, choices: Choices) -> Mapping[str, int | str | bool]:
    """Its parameters, as far as they are still choices."""
    return {
        name: value
        for name, value in attempt.proposal.parameters.items()
        if isinstance(value, (int, str, bool)) and value in choices.get(name, ())
    }
