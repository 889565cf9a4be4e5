"""Canonical JSON and content hashes: the name of everything immutable. And the way back, checked."""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def plain(value: object) -> object:
    """`value` as JSON data: dataclasses become objects, tuples lists, enums their values.

    Raises TypeError for anything else that JSON does not know.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(k.value if isinstance(k, Enum) else k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"no canonical form for {type(value).__name__}")


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces; equal values give equal text."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def rebuilt(kind: type[T], data: object) -> T:
    """The dataclass `kind` from its plain form: exactly its fields, each of its declared type.

    Knows dataclasses, enums, `tuple[X, ...]`, `Mapping[K, V]`, `X | None`, `object` and what JSON has. Raises
    TypeError for another form, ValueError for a value that an enum or the class itself refuses.
    """
    return cast("T", _rebuilt(kind, data))


def _rebuilt(hint: object, data: object) -> object:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is object:
        return data
    if origin is types.UnionType:
        inner = next(a for a in arguments if a is not type(None))
        return None if data is None else _rebuilt(inner, data)
    if origin is tuple:
        return tuple(_rebuilt(arguments[0], item) for item in _of(list, data))
    if origin is Mapping:
        return {_rebuilt(arguments[0], k): _rebuilt(arguments[1], v) for k, v in _of(dict, data).items()}
    assert isinstance(hint, type)
    if is_dataclass(hint):
        return _record(hint, _of(dict, data))
    if issubclass(hint, Enum):
        return hint(_of(str, data))
    return _of(hint, data)


def _record(kind: type, data: Mapping[str, object]) -> object:
    hints = get_type_hints(kind)
    if set(data) != set(hints):
        raise TypeError(f"{kind.__name__} has the fields {', '.join(hints)}, not {', '.join(map(str, data))}")
    return kind(**{name: _rebuilt(hint, data[name]) for name, hint in hints.items()})


def _of(kind: type[T], data: object) -> T:
    """`data`, which is a `kind`; a whole number is a float, too, but a bool is no number."""
    if type(data) is not kind and not (kind is float and type(data) is int):
        raise TypeError(f"expected {kind.__name__}, got {type(data).__name__}")
    return cast("T", data)
