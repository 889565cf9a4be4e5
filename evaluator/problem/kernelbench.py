"""KernelBench files as they are: `class Model`, `get_inputs()`, `get_init_inputs()`.

The file is parsed, never imported: its functions run in the reference runner alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from evaluator.problem import reference
from evaluator.problem.bindings import bound
from evaluator.problem.constants import set_constants
from evaluator.problem.contract import Contract, Problem, ProblemError, Reference, ReferenceStyle, Workload
from evaluator.problem.source import parse_python

WORKLOAD = "default"


def looks_like(tree: ast.Module) -> bool:
    """Whether the file has a `Model` or draws its own inputs, so that this format's errors are the helpful ones."""
    return not bound(tree).keys().isdisjoint({reference.MODULE, *reference.DRAWING})


def parse(name: str, source: str, settings: Mapping[str, object]) -> Problem:
    """A problem from the text of a KernelBench file.

    settings: module-level constants to new values. What the format does not say gets a default that `notes`
    states. Raises ProblemError.
    """
    tree = parse_python(source, name, ProblemError)
    names = bound(tree)
    if reference.MODULE not in names:
        raise ProblemError(f"no `class {reference.MODULE}(nn.Module)` is defined; it is what gets optimised")
    reference.call(tree, reference.MODULE)
    for function in reference.DRAWING:
        reference.check_drawing(names, function)
    contract = Contract(name=name, workloads=(Workload(WORKLOAD, {}),))
    source = set_constants(source, settings)
    found = Reference(source, reference.MODULE, ReferenceStyle.MODULE)
    return Problem(contract, found, "kernelbench", _notes(contract))


def _notes(contract: Contract) -> tuple[str, ...]:
    accuracy = contract.accuracy
    return (
        "inputs are drawn by the file's own get_inputs, under a secret seed, anew for every call",
        f"one workload, {WORKLOAD!r}: the sizes that the file has; no other shape is judged",
        "the module stays in the mode that its constructor leaves it in: training mode, unless it calls self.eval()",
        "inputs may not be changed; outputs have the reference's shapes, dtypes and strides, or are contiguous",
        f"error at most {accuracy.ratio:g} times the reference's own, plus {accuracy.ulps:g} ulp; "
        f"precision {contract.precision.value}; mode {contract.mode}",
        f"baselines {', '.join(contract.baselines)}; no workload below {contract.floor:g} of the strongest",
    )
