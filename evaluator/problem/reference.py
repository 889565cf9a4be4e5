"""Finding a file's reference by syntax: `def reference(...)` or `class Model` with `forward`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from evaluator.problem.bindings import Function, Parameters, bound, method, parameters
from evaluator.problem.contract import (
    ContractError,
    InputSpec,
    Problem,
    ProblemError,
    Reference,
    ReferenceStyle,
)
from evaluator.problem.schema import nearest
from evaluator.problem.source import parse_python

FUNCTION = "reference"
MODULE = "Model"
DRAWING = {
    "get_inputs": "def get_inputs(): return [...]  # the arguments of the reference",
    "get_init_inputs": "def get_init_inputs(): return []  # the arguments of Model",
}

_TORCH_MODULES = ("torch.nn.Module", "nn.Module", "Module")


def find(tree: ast.Module, source: str) -> Reference:
    """The reference of a file. Raises ProblemError where there is none, or more than one, or it can't be called."""
    names = bound(tree)
    found = [name for name in (FUNCTION, MODULE) if name in names]
    if not found:
        raise ProblemError(f"no reference: define `def {FUNCTION}(...)` or `class {MODULE}(nn.Module)`")
    if len(found) > 1:
        raise ProblemError(f"both `{FUNCTION}` and `class {MODULE}` are defined; keep the one to optimise")
    style = ReferenceStyle.FUNCTIONAL if found[0] == FUNCTION else ReferenceStyle.MODULE
    if isinstance(call(tree, found[0]), ast.AsyncFunctionDef):
        raise ProblemError(f"`{found[0]}` is async; write a plain function")
    return Reference(source, found[0], style)


def call(tree: ast.Module, entry: str) -> Function | None:
    """The function, or the module's `forward`, that is called. None where `entry` is bound by assignment or import.

    Raises ProblemError for a class without a `forward`.
    """
    statement = bound(tree)[entry]
    if isinstance(statement, ast.ClassDef):
        forward = method(tree, statement, "forward")
        if forward is None and all(ast.unparse(base) in _TORCH_MODULES for base in statement.bases):
            raise ProblemError(
                f"class `{entry}` has no `forward` method; define what is to be optimised there"
            )
        return forward
    return statement if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def argument_names(problem: Problem) -> tuple[str, ...]:
    """The inputs' names, in call order: the declared ones, else the parameters of what is called, else none."""
    contract, reference = problem.contract, problem.reference
    if contract.inputs is not None:
        return tuple(i.name for i in contract.inputs)
    function = call(parse_python(reference.source, "the file", ProblemError), reference.entry)
    if function is None or function.decorator_list:
        return ()
    return parameters(function, skip=0 if reference.entry == FUNCTION else 1).names


def check_ignored(problem: Problem) -> None:
    """Raise ContractError where `may_ignore` names what is no input, or every input that is known."""
    names, ignored = argument_names(problem), problem.contract.may_ignore
    for i, name in enumerate(ignored):
        if name not in names:
            raise ContractError(f"may_ignore[{i}]", f"there is no input {name!r}; {nearest(name, names)}")
    if names and len(ignored) == len(names):
        raise ContractError("may_ignore", "names every input; one must influence the outputs")


def check_inputs(tree: ast.Module, entry: str, inputs: Sequence[InputSpec]) -> None:
    """Raise ContractError where the declared inputs, in order, are not the reference's parameters."""
    function = call(tree, entry)
    if function is None or function.decorator_list:
        return
    signature = parameters(function, skip=0 if entry == FUNCTION else 1)
    where = entry if entry == FUNCTION else f"{entry}.forward"
    if not signature.takes(len(inputs)):
        raise ContractError("inputs", f"{len(inputs)} declared, but {where} takes {_spoken(signature)}")
    for spec, name in zip(inputs, signature.names, strict=False):
        if spec.name != name:
            raise ContractError(
                f"inputs.{spec.name}",
                f"stands where {where} has the parameter {name!r}; name inputs as its parameters, in their order",
            )


def check_init(tree: ast.Module, entry: str, init: Sequence[object]) -> None:
    """Raise ContractError where the constructor, if the file shows it, does not take the declared arguments."""
    owner = bound(tree)[entry]
    if not isinstance(owner, ast.ClassDef):
        if init and entry == FUNCTION:
            raise ContractError("init", f"is for a `class {MODULE}`; the reference is a function")
        return
    constructor = method(tree, owner, "__init__")
    if constructor is None or constructor.decorator_list:
        return
    signature = parameters(constructor, skip=1)
    if not signature.takes(len(init)):
        raise ContractError("init", f"{len(init)} declared, but {entry}.__init__ takes {_spoken(signature)}")


def check_drawing(names: Mapping[str, ast.stmt], name: str) -> None:
    """Raise ProblemError where the top-level function `name`, a key of DRAWING, is missing or needs arguments."""
    statement = names.get(name)
    if statement is None:
        raise ProblemError(f"`{name}` is missing; add: {DRAWING[name]}")
    if isinstance(statement, ast.AsyncFunctionDef):
        raise ProblemError(f"`{name}` is async; write a plain function")
    if isinstance(statement, ast.FunctionDef) and not parameters(statement).takes(0):
        raise ProblemError(f"`{name}` must be callable without arguments")


def _spoken(signature: Parameters) -> str:
    if signature.keywords:
        return f"keyword-only parameters ({', '.join(signature.keywords)}); make them positional"
    named = f" ({', '.join(signature.names)})" if signature.names else ""
    if signature.variadic:
        return f"{signature.required} or more{named}"
    most = len(signature.names)
    return f"{most}{named}" if most == signature.required else f"{signature.required} to {most}{named}"
