"""The proposers that ship, in the order in which they take turns."""

from __future__ import annotations

from agent.api import Proposer
from agent.compiler import CompilerProposer
from agent.template_proposer import TemplateProposer


def default_proposers() -> tuple[Proposer, ...]:
    """Templates first: a wrong guess costs them a second, the compiler half a minute."""
    return (TemplateProposer(), CompilerProposer())
