"""Artifacts: bytes by content, compressed, in the database."""

from __future__ import annotations

import hashlib
import zlib

from sqlalchemy.orm import Session

from services.db.models import ArtifactRow
from services.db.once import add_once
from services.errors import RecordDamaged

LEVEL = 6


class Artifacts:
    """The artifacts table within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, data: bytes) -> str:
        """Keep `data` once; its SHA-256 in hex."""
        digest = hashlib.sha256(data).hexdigest()
        if self._session.get(ArtifactRow, digest) is None:
            packed = zlib.compress(data, LEVEL)
            row = ArtifactRow(digest=digest, size=len(data), compressed=packed, compressed_size=len(packed))
            add_once(self._session, row)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes. Raises RecordDamaged when they are not there or not what their name says."""
        row = self._session.get(ArtifactRow, digest)
        if row is None:
            raise RecordDamaged(f"artifact {digest} is missing")
        try:
            data = zlib.decompress(row.compressed)
        except zlib.error as e:
            raise RecordDamaged(f"artifact {digest} does not decompress: {e}") from e
        if hashlib.sha256(data).hexdigest() != digest:
            raise RecordDamaged(f"artifact {digest} has other content than its name says")
        return data

    def put_text(self, text: str) -> str:
        """Keep text of any author, lone surrogates included."""
        return self.put(text.encode("utf-8", "surrogatepass"))

    def get_text(self, digest: str) -> str:
        """Text kept by `put_text`. Raises as `get`."""
        return self.get(digest).decode("utf-8", "surrogatepass")
