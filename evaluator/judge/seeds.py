"""Secret seeds: one master per evaluation, a seed per purpose from it. They never leave the judge."""

from __future__ import annotations

import hashlib
import secrets

PUBLIC_SEED = 42


class Seeds:
    """Seeds derived from a master by purpose and counter; the same master gives the same seeds, for replay."""

    def __init__(self, master: str | None = None, public: bool = False) -> None:
        self.master = secrets.token_hex(16) if master is None else master
        self._public = public
        self._count = 0

    def next(self, purpose: str) -> int:
        """A fresh 63-bit seed; the one everybody guesses first where seeds are public."""
        if self._public:
            return PUBLIC_SEED
        self._count += 1
        text = f"{self.master}/{purpose}/{self._count}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
