"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

import enum
import math
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Enum, Text
from sqlalchemy.types import TypeDecorator

from services.text import storable

FLOAT = "$float"
"""Key of the object that stands for a float JSON does not know."""


class Plain(TypeDecorator[Any]):
    """JSON data, with infinities and NaN, which neither database's JSON takes as they are.

    Key order is kept (`json` on PostgreSQL, never `jsonb`).
    """

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Write non-finite floats as objects."""
        return _encode(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Read them back."""
        return _decode(value)


class ForeignText(TypeDecorator[str]):
    """Text from anyone: NUL and lone surrogates, which PostgreSQL refuses, are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Make it storable."""
        return None if value is None else storable(value)


class Moment(TypeDecorator[datetime]):
    """A point in time, aware, in UTC; SQLite keeps it without the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; a naive time is a mistake of ours."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware again."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def word(kind: type[enum.StrEnum]) -> Enum:
    """A column for an enum, stored as its value in a plain VARCHAR."""
    return Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=32,
        validate_strings=True,
        values_callable=lambda members: [m.value for m in members],
    )


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


def _encode(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {FLOAT: repr(value)}
    if isinstance(value, dict):
        return {k: _encode(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encode(v) for v in value]
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {FLOAT}:
            return float(value[FLOAT])
        return {k: _decode(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_decode(v) for v in value]
    return value
