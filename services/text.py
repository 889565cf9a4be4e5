"""Foreign text (ideas, sources, reasons, compiler output) made fit to be shown.

It is data: control characters would steer a terminal, bidirectional overrides would disguise it, and its
length is whatever its author liked.
"""

from __future__ import annotations

import re
import unicodedata

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LINE_BREAKS = frozenset("\u2028\u2029")
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
"""Terminal sequences as a whole: CSI, OSC and two-character ones."""


def clean(text: str, limit: int = 2000) -> str:
    """`text` without control characters (newline and tab stay), cut to `limit` characters with a mark."""
    plain = ESCAPES.sub("", text[: 4 * limit])
    shown = "".join(c for c in plain if _printable(c))
    return shown if len(shown) <= limit and len(text) <= 4 * limit else shown[:limit] + " …"


def line(text: str, limit: int = 200) -> str:
    """`clean`, on one line: every run of white space is one space."""
    flat = " ".join(clean(text, limit * 4).split())
    return flat if len(flat) <= limit else flat[:limit] + " …"


def storable(text: str) -> str:
    """`text` as every database takes it: no NUL, no lone surrogate."""
    return text.replace("\0", "\ufffd").encode("utf-8", "backslashreplace").decode()


def _printable(c: str) -> bool:
    if c in "\n\t":
        return True
    return unicodedata.category(c) not in ("Cc", "Cs") and c not in BIDI and c not in LINE_BREAKS
