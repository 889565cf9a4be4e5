"""Sizes as arithmetic over axes: `2*rows`, `cols//2`, `max(rows, 16) + 1`.

Integers, axis names, `+ - * // %`, parentheses, `min` and `max`; nothing is executed. A wrong expression
raises ValueError with a text that says what to write instead.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence

MAX_LENGTH = 200
MAX_VALUE = 1 << 53

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
FUNCTIONS: dict[str, Callable[[Sequence[int]], int]] = {"min": min, "max": max}


def evaluate(expr: int | str, axes: Mapping[str, int]) -> int:
    """The value of `expr` where each axis has the size given. Raises ValueError."""
    if not isinstance(expr, str):
        return expr
    return _value(_parse(expr), axes)


def sizes(shape: Sequence[int | str], axes: Mapping[str, int]) -> tuple[int, ...]:
    """A shape with every expression evaluated. Raises ValueError."""
    return tuple(evaluate(size, axes) for size in shape)


def axes_of(expr: int | str) -> frozenset[str]:
    """The axis names in `expr`. Raises ValueError where it is no expression."""
    if not isinstance(expr, str):
        return frozenset()
    tree = _parse(expr)
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in functions)


def _parse(expr: str) -> ast.expr:
    if len(expr) > MAX_LENGTH:
        raise ValueError(f"an expression has at most {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(expr.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{expr!r} is not arithmetic over axes") from None


def _value(node: ast.expr, axes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            result = value
        case ast.Name(id=name):
            result = _axis(name, axes)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_value(operand, axes)
        case ast.BinOp(left=left, op=op, right=right):
            result = _binary(op, _value(left, axes), _value(right, axes))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS and arguments:
            result = FUNCTIONS[name]([_value(a, axes) for a in arguments])
        case _:
            raise ValueError(f"{ast.unparse(node)!r}: only integers, axes, + - * // %, min, max can be used")
    if abs(result) > MAX_VALUE:
        raise ValueError(f"{ast.unparse(node)!r} is out of range")
    return result


def _axis(name: str, axes: Mapping[str, int]) -> int:
    if name not in axes:
        raise ValueError(f"there is no axis {name!r}; declared: {', '.join(sorted(axes)) or 'none'}")
    return axes[name]


def _binary(op: ast.operator, left: int, right: int) -> int:
    if type(op) is ast.Div:
        raise ValueError("sizes are whole numbers; write // instead of /")
    if type(op) not in _BINARY:
        raise ValueError("only + - * // % can be used")
    if right == 0 and type(op) in (ast.FloorDiv, ast.Mod):
        raise ValueError("division by zero")
    return _BINARY[type(op)](left, right)
