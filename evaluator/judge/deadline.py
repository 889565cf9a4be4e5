"""Until when an evaluation may go on; looked at before and while anything foreign is waited for."""

from __future__ import annotations

import time

from evaluator.evaluation import OutOfTime


class Deadline:
    """`at` is a time of `time.monotonic`, or None for none. One object for all that a judge has started."""

    def __init__(self) -> None:
        self.at: float | None = None

    def check(self) -> None:
        """Raises OutOfTime once it has passed."""
        if self.at is not None and time.monotonic() >= self.at:
            raise OutOfTime("the time that was left ended before the verdict")

    def within(self, seconds: float) -> float:
        """A limit of `seconds` from now, less where the deadline is nearer. Raises OutOfTime."""
        self.check()
        return seconds if self.at is None else min(seconds, self.at - time.monotonic())
