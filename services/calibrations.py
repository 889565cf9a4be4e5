"""What machines were calibrated to, a file for each in the data folder: readable, and gone with it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

SUFFIX = ".json"


class Calibrations:
    """Mapping-like: `get` and `put` of JSON data. A key is a digest that the judge makes of what counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Mapping[str, object] | None:
        """What was put last under `key`; None where there is nothing, or nothing readable."""
        try:
            data = json.loads((self._folder / f"{key}{SUFFIX}").read_text())
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) else None

    def put(self, key: str, value: Mapping[str, object]) -> None:
        """Keep `value` under `key`, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{key}{SUFFIX}"
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(dict(value), indent=2) + "\n")
        draft.replace(path)

    def count(self) -> int:
        """How many machines are known here."""
        return len(list(self._folder.glob(f"*{SUFFIX}")))
