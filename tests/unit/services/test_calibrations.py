"""Calibrations are kept by machine, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from services.calibrations import Calibrations


def test_what_was_put_last_is_found(tmp_path: Path) -> None:
    kept = Calibrations(tmp_path / "new")
    assert (kept.get("a"), kept.count()) == (None, 0)
    kept.put("a", {"resolution": 1e-4})
    kept.put("b", {"resolution": 2e-4})
    kept.put("a", {"resolution": 3e-4})
    assert Calibrations(tmp_path / "new").get("a") == {"resolution": 3e-4}
    assert kept.count() == 2


def test_what_cannot_be_read_is_measured_anew(tmp_path: Path) -> None:
    kept = Calibrations(tmp_path)
    (tmp_path / "a.json").write_text('{"resolution": ')
    (tmp_path / "b.json").write_text("[1]")
    assert (kept.get("a"), kept.get("b")) == (None, None)
