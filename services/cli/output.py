"""Where words go: a command's result on standard output, everything said on the way on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.canonical import plain
from services.text import line


@dataclass(frozen=True)
class Output:
    """With `as_json`, standard output gets exactly one JSON object."""

    as_json: bool

    def say(self, text: str) -> None:
        """One line about what is going on. The text may be foreign."""
        print(line(text, 400), file=sys.stderr, flush=True)

    def result(self, data: Mapping[str, object]) -> None:
        """The result for machines; nothing where a person reads."""
        if self.as_json:
            print(json.dumps(_finite(plain(dict(data))), indent=2), flush=True)

    def error(self, kind: str, message: str) -> None:
        """What went wrong, for whoever reads."""
        print(f"kernelwright: {message}", file=sys.stderr, flush=True)
        self.result({"error": {"kind": kind, "message": message}})


def _finite(value: object) -> object:
    """JSON has no infinities: they become their names."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return value
