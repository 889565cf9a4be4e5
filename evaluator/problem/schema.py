"""Readers: small functions that turn one raw value into a checked one, and combine into a whole schema.

A reader takes the dotted path of the value ("inputs.x.dtype") and the value. It raises ContractError with
that path and what to write instead, or NotSupportedYet for what the language knows and this version does not.
"""

from __future__ import annotations

import difflib
import keyword
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from evaluator.problem.contract import ContractError, NotSupportedYet

T = TypeVar("T")
Reader = Callable[[str, object], T]

_LISTED = 40


def join(path: str, key: str) -> str:
    """The dotted path of `key` below `path`, printable and short."""
    key = "".join(c if c.isprintable() else "?" for c in key[:100])
    return f"{path}.{key}" if path else key


def describe(value: object) -> str:
    """A value for an error text, cut short."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else text[:57] + "..."


def nearest(word: str, known: Collection[str]) -> str:
    """A hint: the known word most like `word`, or the list of them."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {listing(sorted(known))}"


def listing(words: Collection[str]) -> str:
    """Words for an error text; of very many only the first."""
    shown = list(words)[:_LISTED]
    more = f" and {len(words) - len(shown)} more" if len(words) > len(shown) else ""
    return f"{', '.join(shown) or 'none'}{more}"


def text(path: str, raw: object) -> str:
    """A printable string that is not blank, of at most 200 characters."""
    if not isinstance(raw, str) or not raw.strip() or len(raw) > 200 or not raw.isprintable():
        raise ContractError(path, f"must be a short text, not {describe(raw)}")
    return raw


def name(path: str, raw: object) -> str:
    """A Python identifier that is not a keyword."""
    if not isinstance(raw, str) or not raw.isidentifier() or keyword.iskeyword(raw) or len(raw) > 100:
        raise ContractError(path, f"must be a Python name, not {describe(raw)}")
    return raw


def flag(path: str, raw: object) -> bool:
    """True or False."""
    if not isinstance(raw, bool):
        raise ContractError(path, f"must be true or false, not {describe(raw)}")
    return raw


def integer(low: int, high: int) -> Reader[int]:
    """A whole number in [low, high]."""

    def read(path: str, raw: object) -> int:
        if type(raw) is not int:
            raise ContractError(path, f"must be a whole number, not {describe(raw)}")
        if not low <= raw <= high:
            raise ContractError(path, f"must be between {low} and {high}, not {describe(raw)}")
        return raw

    return read


def number(low: float = -math.inf, high: float = math.inf, positive: bool = False) -> Reader[float]:
    """A finite number in [low, high], above zero where `positive`."""

    def read(path: str, raw: object) -> float:
        if type(raw) not in (int, float):
            raise ContractError(path, f"must be a number, not {describe(raw)}")
        try:
            value = float(raw)  # type: ignore[arg-type]
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise ContractError(path, f"must be finite, not {describe(raw)}")
        if not low <= value <= high or (positive and value <= 0):
            above = "above 0" if positive else f"at least {low:g}"
            raise ContractError(path, f"must be {above} and at most {high:g}, not {describe(raw)}")
        return value

    return read


def choice(options: Collection[str], later: Mapping[str, str] | None = None) -> Reader[str]:
    """One of `options`. `later` names values of the language that come with a later version, and why."""
    unsupported = later or {}

    def read(path: str, raw: object) -> str:
        if isinstance(raw, str) and raw in unsupported:
            raise NotSupportedYet(f"{path}: {raw!r} is not supported yet: {unsupported[raw]}")
        if not isinstance(raw, str) or raw not in options:
            hint = nearest(raw, options) if isinstance(raw, str) else f"known: {', '.join(sorted(options))}"
            raise ContractError(path, f"{describe(raw)} is not known; {hint}")
        return raw

    return read


def sequence(item: Reader[T], least: int = 0, most: int = 64, unique: bool = False) -> Reader[tuple[T, ...]]:
    """A list of `least` to `most` items, each a different one where `unique`."""

    def read(path: str, raw: object) -> tuple[T, ...]:
        if not isinstance(raw, (list, tuple)):
            raise ContractError(path, f"must be a list, not {describe(raw)}")
        if not least <= len(raw) <= most:
            raise ContractError(path, f"must have {least} to {most} items, not {len(raw)}")
        items = tuple(item(f"{path}[{i}]", r) for i, r in enumerate(raw))
        for i, value in enumerate(items):
            if unique and value in items[:i]:
                raise ContractError(f"{path}[{i}]", f"{describe(value)} is given twice")
        return items

    return read


def mapping(item: Reader[T], least: int = 0, most: int = 64) -> Reader[dict[str, T]]:
    """A table whose keys are names of the author's choosing, in their order."""

    def read(path: str, raw: object) -> dict[str, T]:
        if not isinstance(raw, dict):
            raise ContractError(path, f"must be a table of name to value, not {describe(raw)}")
        if not least <= len(raw) <= most:
            raise ContractError(path, f"must have {least} to {most} entries, not {len(raw)}")
        return {name(path, k): item(join(path, k), v) for k, v in raw.items()}

    return read


def table(
    keys: Mapping[str, Reader[Any]], required: Collection[str] = (), later: Mapping[str, str] | None = None
) -> Reader[dict[str, Any]]:
    """A table with exactly these keys; those absent are left out of the result.

    `later` names keys of the language that come with a later version, and why.
    """
    unsupported = later or {}

    def read(path: str, raw: object) -> dict[str, Any]:
        if not isinstance(raw, dict):
            raise ContractError(path or "CONTRACT", f"must be a table, not {describe(raw)}")
        for key in raw:
            if key in unsupported:
                raise NotSupportedYet(f"{join(path, key)}: not supported yet: {unsupported[key]}")
            if key not in keys:
                raise ContractError(join(path, str(key)), f"unknown key; {nearest(str(key), keys)}")
        for key in required:
            if key not in raw:
                raise ContractError(join(path, key), "is missing")
        return {key: keys[key](join(path, key), value) for key, value in raw.items()}

    return read
