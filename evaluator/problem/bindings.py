"""What a Python file binds at its top level, and how its functions are called, by syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DYNAMIC = frozenset({"exec", "eval", "globals", "setattr", "vars", "__import__"})


@dataclass(frozen=True)
class Parameters:
    """A signature's positional side. `keywords` are keyword-only parameters without a default."""

    names: tuple[str, ...]
    required: int
    variadic: bool
    keywords: tuple[str, ...]

    def takes(self, count: int) -> bool:
        """Whether `count` positional arguments are a valid call."""
        return not self.keywords and self.required <= count and (self.variadic or count <= len(self.names))


def parameters(node: Function | ast.Lambda, skip: int = 0) -> Parameters:
    """The signature of `node` without its first `skip` parameters (1 for `self`)."""
    arguments = node.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return Parameters(
        names=tuple(names[skip:]),
        required=max(0, len(names) - len(arguments.defaults) - skip),
        variadic=arguments.vararg is not None,
        keywords=tuple(a.arg for a, default in pairs if default is None),
    )


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements run when the module is imported, in order: also those below `if`, `try`, `with`, loops."""
    pending = body[::-1]
    while pending:
        statement = pending.pop()
        yield statement
        pending += _children(statement)[::-1]


def bound(tree: ast.Module) -> dict[str, ast.stmt]:
    """Every name bound at the top level, with the statement that binds it last."""
    names: dict[str, ast.stmt] = {}
    for statement in statements(tree.body):
        names |= dict.fromkeys(_names_of(statement), statement)
    return names


def is_dynamic(tree: ast.Module) -> bool:
    """Whether names may be bound in ways that syntax does not show (star imports, exec, globals)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
            return True
        if isinstance(node, ast.Name) and node.id in _DYNAMIC:
            return True
    return False


def method(tree: ast.Module, owner: ast.ClassDef, name: str) -> Function | None:
    """The method `name` of a class, looked up through bases defined in the same file."""
    classes = bound(tree)
    seen: set[str] = set()
    queue = [owner]
    while queue:
        current = queue.pop(0)
        for statement in current.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
                return statement
        for base in current.bases:
            parent = classes.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(parent, ast.ClassDef) and parent.name not in seen:
                seen.add(parent.name)
                queue.append(parent)
    return None


def _children(statement: ast.stmt) -> list[ast.stmt]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    found: list[ast.stmt] = []
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            found += child.body
    return found


def _names_of(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((a.asname or a.name).partition(".")[0] for a in aliases)
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            yield name
