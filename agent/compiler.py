"""The compiler proposer: the reference itself under torch.compile with options that a user seldom tries, and the
code that the compiler generates, as a source of its own.

Each costs a compilation of half a minute, so the order matters: the most promising options, the generated code,
what the best two attempts have in options together, then the other options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from agent.api import Attempt, Proposal, View
from agent.compiler_options import VARIANTS, Variant, traits
from agent.selection import ranked
from evaluator.evaluation import Verdict
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import Reference, ReferenceStyle

NAME = "compiler"
FIRST = 4
"""How many sets of options are tried before anything else."""
HOPELESS = 3
"""After so many attempts, all incorrect, the rest would be too: the compiler's own arithmetic is not exact enough."""
COMBINED = 3
"""Of how many of the best attempts the options are put together, two by two."""
GENERATED = {"source": "generated"}
DYNAMIC = "dynamic"

MODULE = """
import torch as _torch


class ModelNew({entry}):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.forward = _torch.compile(super().forward, {arguments})
"""

FUNCTION = """
import torch as _torch

_compiled = _torch.compile({entry}, {arguments})


def kernelwright_compiled(*args):
    return _compiled(*args)
"""


class CompilerProposer:
    """Proposes each of `VARIANTS` that fits the problem, combinations of those that paid, and generated code."""

    name = NAME

    def propose(self, view: View) -> Iterator[Proposal]:
        """In order of promise."""
        if _is_hopeless(view):
            return
        found = traits(view)
        fitting = [v for v in VARIANTS if v.fits(found)]
        yield from (_proposal(view, v) for v in fitting[:FIRST])
        yield from _generated(view)
        yield from _combined(view)
        yield from (_proposal(view, v) for v in fitting[FIRST:])


def _is_hopeless(view: View) -> bool:
    own = [a.evaluation for a in view.attempts if a.proposal.proposer == NAME and a.evaluation is not None]
    return len(own) >= HOPELESS and all(judged.verdict is Verdict.INCORRECT for judged in own)


def _proposal(view: View, variant: Variant, parents: tuple[str, ...] = ()) -> Proposal:
    source = compiled_source(view.problem.reference, variant.options, variant.dynamic)
    parameters = dict(variant.options) | ({DYNAMIC: True} if variant.dynamic else {})
    candidate = Candidate({"candidate.py": source}, Language.PYTHON)
    return Proposal(candidate, NAME, f"torch.compile: {variant.idea}", parameters, parents)


def _generated(view: View) -> Iterator[Proposal]:
    """The compiler's code, unless an attempt has it already."""
    if not any(a.proposal.parameters == GENERATED for a in view.attempts):
        candidate = view.generated()
        if candidate is not None:
            idea = "torch.compile's generated code, taken out to stand on its own"
            yield Proposal(candidate, NAME, idea, GENERATED)


def _combined(view: View) -> Iterator[Proposal]:
    """The options of two of the best attempts together, the best two first."""
    best = [a for a in ranked(view.attempts) if _has_options(a)][:COMBINED]
    for first, second in combinations(best, 2):
        options = _options(second) | _options(first)
        if options not in (_options(first), _options(second)):
            idea = f"the options of attempts {first.number} and {second.number} together"
            parents = (first.proposal.candidate.digest, second.proposal.candidate.digest)
            yield _proposal(view, Variant(idea, options), parents)


def _has_options(attempt: Attempt) -> bool:
    proposal = attempt.proposal
    return (
        proposal.proposer == NAME and proposal.parameters != GENERATED and DYNAMIC not in proposal.parameters
    )


def _options(attempt: Attempt) -> dict[str, object]:
    return dict(attempt.proposal.parameters)


def compiled_source(reference: Reference, options: Mapping[str, object], dynamic: bool = False) -> str:
    """A Python candidate: the reference's source, followed by an entry that compiles it with `options`."""
    if reference.style is ReferenceStyle.MODULE:
        header, wrapper = "# kernelwright: entry=ModelNew style=module", MODULE
    else:
        header, wrapper = "# kernelwright: entry=kernelwright_compiled style=functional", FUNCTION
    body = wrapper.format(entry=reference.entry, arguments=_arguments(options, dynamic))
    return f"{header}\n{reference.source.rstrip()}\n\n{body}"


def _arguments(options: Mapping[str, object], dynamic: bool) -> str:
    """torch.compile's arguments, as a person would write them."""
    return ", ".join([f"options={dict(options)!r}"] * bool(options) + ["dynamic=True"] * dynamic)
