"""The native format: a Python file with the reference, and its contract inside it (`CONTRACT`) or beside it (TOML).

The file is parsed, never imported. docs/problems.md describes the format.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import replace

from evaluator.problem import envelope, reference
from evaluator.problem.bindings import bound, statements
from evaluator.problem.constants import set_constants, settable, unknown
from evaluator.problem.contract import Axis, Contract, ContractError, Problem, ProblemError
from evaluator.problem.native_schema import read
from evaluator.problem.schema import describe, integer
from evaluator.problem.source import parse_python

VARIABLE = "CONTRACT"


def has_contract(tree: ast.Module) -> bool:
    """Whether the file binds `CONTRACT` at its top level."""
    return VARIABLE in bound(tree)


def parse(name: str, source: str, toml: str | None, settings: Mapping[str, object]) -> Problem:
    """A problem from the text of its file and of the TOML file beside it, if there is one.

    name: the contract's name where it does not give one. settings: constant axes, or module-level constants of
    the source, to new values. Raises ProblemError.
    """
    tree = parse_python(source, name, ProblemError)
    contract = read(_declared(tree, toml), name)
    contract, constants = _set_axes(contract, settings, source)
    source = set_constants(source, constants)
    found = reference.find(tree, source)
    contract = _complete(contract, tree, found.entry)
    envelope.check(contract)
    problem = Problem(contract, found, "native", _notes(contract))
    reference.check_ignored(problem)
    return problem


def _declared(tree: ast.Module, toml: str | None) -> object:
    assigned = [s for s in statements(tree.body) if VARIABLE in bound(ast.Module([s], []))]
    if toml is None:
        return _literal(assigned)
    if assigned:
        raise ProblemError(f"the contract is given twice: `{VARIABLE}` and the TOML file beside it; keep one")
    try:
        return tomllib.loads(toml)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as e:
        raise ProblemError(f"the TOML file is not valid: {e or 'it is nested too deeply'}") from e


def _literal(assigned: list[ast.stmt]) -> object:
    if len(assigned) != 1 or not isinstance(assigned[0], (ast.Assign, ast.AnnAssign)):
        raise ProblemError(f"`{VARIABLE}` must be assigned once, at the top level of the file")
    value = assigned[0].value
    if value is None:
        raise ProblemError(f"`{VARIABLE}` has no value")
    _refuse_duplicates(value)
    try:
        literal: object = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError) as e:
        raise ProblemError(
            f"`{VARIABLE}` must be a literal (line {value.lineno}): it is read, not executed, so write numbers and "
            "texts out, without names, calls or arithmetic"
        ) from e
    return literal


def _refuse_duplicates(value: ast.expr) -> None:
    for node in ast.walk(value):
        if isinstance(node, ast.Dict):
            seen: set[object] = set()
            for key in (k.value for k in node.keys if isinstance(k, ast.Constant)):
                if key in seen:
                    raise ContractError(describe(key), f"is given twice (line {node.lineno})")
                seen.add(key)


def _set_axes(
    contract: Contract, settings: Mapping[str, object], source: str
) -> tuple[Contract, dict[str, object]]:
    """The contract with its constant axes set, and the settings that name constants of the source."""
    constants = [n for n in settable(source) if n != VARIABLE]
    axes = {a.name: a for a in contract.axes}
    fixed = [a.name for a in contract.axes if a.low == a.high]
    for name, value in settings.items():
        if name in fixed:
            size = integer(1, 1 << 40)(f"--set {name}", value)
            axes[name] = Axis(name, size, size)
        elif name in axes:
            raise ProblemError(
                f"--set {name}: the axis is a range whose sizes the workloads choose; edit the workloads instead"
            )
        elif name not in constants:
            raise unknown(name, [*fixed, *constants])
    chosen = {name: value for name, value in settings.items() if name in constants}
    return replace(contract, axes=tuple(axes.values())), chosen


def _complete(contract: Contract, tree: ast.Module, entry: str) -> Contract:
    """The contract with `init` settled, checked against the reference's signatures."""
    names = bound(tree)
    if contract.inputs is None:
        if "get_inputs" not in names:
            raise ContractError("inputs", "is missing (or define `get_inputs()` to draw them in the file)")
        if contract.axes or len(contract.workloads) > 1:
            raise ContractError("inputs", "is missing; axes and workloads need declared inputs")
        reference.check_drawing(names, "get_inputs")
        if contract.mutates:
            raise ContractError("mutates", "needs declared inputs")
    else:
        reference.check_inputs(tree, entry, contract.inputs)
    if contract.init is not None:
        reference.check_init(tree, entry, contract.init)
    elif "get_init_inputs" not in names:
        reference.check_init(tree, entry, ())
        return replace(contract, init=())
    else:
        reference.check_drawing(names, "get_init_inputs")
    return contract


def _notes(contract: Contract) -> tuple[str, ...]:
    notes = []
    if contract.inputs is None:
        notes.append(
            "inputs are drawn by the file's own get_inputs, under a secret seed, anew for every call"
        )
    if contract.outputs is None:
        notes.append("outputs are not declared: shapes and dtypes are taken from the reference when it runs")
    return tuple(notes)
