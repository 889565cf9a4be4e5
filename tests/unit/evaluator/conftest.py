"""What the evaluator's tests share: generated examples that are the same in every run, however busy the machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("steady")
