"""The compiler proposer: the reference itself under torch.compile with options that a user seldom tries.

Few, because each costs a compilation of half a minute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.api import Proposal, View
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import Reference, ReferenceStyle

NAME = "compiler"

VARIANTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    (
        "contract multiply and add, search tilings",
        {"cpp.enable_floating_point_contract_flag": "fast", "max_autotune": True},
    ),
    (
        "vectors of 256 bits with contracted multiply and add",
        {"cpp.enable_floating_point_contract_flag": "fast", "cpp.simdlen": 256},
    ),
    (
        "weights folded in as constants, reassociated arithmetic",
        {"freezing": True, "cpp.enable_unsafe_math_opt_flag": True},
    ),
    ("host code in C++ as well", {"cpp_wrapper": True}),
)

MODULE = """
import torch as _torch


class ModelNew({entry}):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.forward = _torch.compile(super().forward, options={options!r})
"""

FUNCTION = """
import torch as _torch

_compiled = _torch.compile({entry}, options={options!r})


def kernelwright_compiled(*args):
    return _compiled(*args)
"""


class CompilerProposer:
    """Proposes each of `VARIANTS` once, whatever the problem."""

    name = NAME

    def propose(self, view: View) -> Iterator[Proposal]:
        """The variants in order of promise."""
        for idea, options in VARIANTS:
            source = compiled_source(view.problem.reference, options)
            candidate = Candidate({"candidate.py": source}, Language.PYTHON)
            yield Proposal(candidate, NAME, f"torch.compile: {idea}", dict(options))


def compiled_source(reference: Reference, options: Mapping[str, object]) -> str:
    """A Python candidate: the reference's source, followed by an entry that compiles it with `options`."""
    if reference.style is ReferenceStyle.MODULE:
        header, wrapper = "# kernelwright: entry=ModelNew style=module", MODULE
    else:
        header, wrapper = "# kernelwright: entry=kernelwright_compiled style=functional", FUNCTION
    body = wrapper.format(entry=reference.entry, options=dict(options))
    return f"{header}\n{reference.source.rstrip()}\n\n{body}"
