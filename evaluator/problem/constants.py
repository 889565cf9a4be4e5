"""Module-level constants of a source file: which can be set, and setting them by surgery on the text.

A constant is a name assigned at the top level from literals, arithmetic, other names, tuples, lists and number
functions. Setting one replaces its value where it stands; what is computed from it stays computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from evaluator.problem.contract import ProblemError
from evaluator.problem.schema import describe, listing, nearest
from evaluator.problem.source import parse_python

_CALLS = frozenset({"int", "float", "bool", "min", "max", "round", "abs", "len", "sum"})
_PARTS = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
    ast.Tuple, ast.List, ast.Subscript, ast.Call,
)  # fmt: skip
_Edit = tuple[ast.expr | ast.stmt, str]


def parse_settings(texts: Sequence[str]) -> dict[str, object]:
    """`NAME=VALUE` texts as a mapping. A value is a Python literal; any other text is itself.

    Raises ProblemError for a text without a name or a name given twice.
    """
    settings: dict[str, object] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier():
            raise ProblemError(f"{text!r} is not a setting; write NAME=VALUE, for example batch_size=8")
        if name in settings:
            raise ProblemError(f"{name} is set twice")
        settings[name] = _literal(value)
    return settings


def settable(source: str) -> tuple[str, ...]:
    """Names of the constants of `source`, in order of appearance. Raises ProblemError on invalid Python."""
    return tuple(_constants(parse_python(source, "the file", ProblemError)))


def set_constants(source: str, settings: Mapping[str, object]) -> str:
    """`source` with each named constant given its new value.

    Raises ProblemError for a name that is no constant (listing those that are), for a value that is no literal,
    and for text where a number stands.
    """
    tree = parse_python(source, "the file", ProblemError)
    constants = _constants(tree)
    for name, value in settings.items():
        if name not in constants:
            raise unknown(name, constants)
        _check_value(name, value, constants[name])
    edits = [edit for statement in tree.body for edit in _edits(source, statement, settings)]
    return _apply(source, edits)


def unknown(name: str, known: Mapping[str, object] | Sequence[str]) -> ProblemError:
    """The error for a setting that names nothing."""
    listed = listing(known) if known else "nothing"
    hint = f"{nearest(name, list(known))} " if known else ""
    return ProblemError(f"--set {name}: there is no such constant; {hint}(settable: {listed})")


def _literal(text: str) -> object:
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return text
    return value


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    constants: dict[str, ast.expr] = {}
    changed: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            changed.add(statement.target.id)
        constants |= {target.id: value for target, value in _assigned(statement)}
    return {k: v for k, v in constants.items() if k not in changed}


def _assigned(statement: ast.stmt) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Names and values of an assignment of constants; nothing for other statements."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            if len(names) == len(values) and all(isinstance(n, ast.Name) for n in names):
                pairs = zip(names, values, strict=True)
                yield from ((n, v) for n, v in pairs if isinstance(n, ast.Name) and _is_constant(v))
        case ast.Assign(targets=targets, value=value):
            if all(isinstance(t, ast.Name) for t in targets) and _is_constant(value):
                yield from ((t, value) for t in targets if isinstance(t, ast.Name))
        case ast.AnnAssign(target=ast.Name() as name, value=ast.expr() as value) if _is_constant(value):
            yield name, value


def _is_constant(value: ast.expr) -> bool:
    for node in ast.walk(value):
        if not isinstance(node, _PARTS):
            return False
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _CALLS):
            return False
    return True


def _check_value(name: str, value: object, old: ast.expr) -> None:
    try:
        faithful = ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        faithful = False
    if not faithful:
        raise ProblemError(f"--set {name}: {describe(value)} is not a literal (number, text, tuple, list)")
    is_number = isinstance(old, ast.Constant) and type(old.value) in (int, float)
    if is_number and isinstance(value, str):
        raise ProblemError(f"--set {name}: stands for a number; {describe(value)} is text")


def _edits(source: str, statement: ast.stmt, settings: Mapping[str, object]) -> Iterator[_Edit]:
    """Replacements of parts of a statement. A chain `a = b = 1` is taken apart where only some are set."""
    pairs = list(_assigned(statement))
    if not any(target.id in settings for target, _ in pairs):
        return
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        kept = [t.id for t, _ in pairs if t.id not in settings]
        value = ast.get_source_segment(source, statement.value) or ""
        parts = [f"{' = '.join(kept)} = ({value})"] if kept else []
        parts += [f"{t.id} = {settings[t.id]!r}" for t, _ in pairs if t.id in settings]
        yield statement, "; ".join(parts)
        return
    yield from ((value, repr(settings[target.id])) for target, value in pairs if target.id in settings)


def _apply(source: str, edits: Sequence[_Edit]) -> str:
    data = source.encode()
    starts = [0, *(i + 1 for i, byte in enumerate(data) if byte == ord("\n"))]
    for node, text in sorted(edits, key=lambda e: (e[0].lineno, e[0].col_offset), reverse=True):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        data = data[:begin] + text.encode() + data[end:]
    return data.decode()
