"""The baseline cache: what a problem's baselines took on a machine with its versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.db.engine import Database
from services.db.models import BaselineRow


class BaselineCache:
    """Mapping-like: `get` and `put`, one transaction each. The key is the judge's own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> dict[str, Any] | None:
        """What was put last under `key`, or None."""
        with self._database.reading() as session:
            row = session.get(BaselineRow, key)
            return None if row is None else dict(row.value)

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep `value` (JSON data) under `key`, in place of what was there."""
        with self._database.writing() as session:
            session.merge(BaselineRow(key=key, value=dict(value)))
