"""Progress of a job while it runs, on standard error: a live table on a terminal, plain lines elsewhere.

Nothing is refreshed by a thread: it would take the judge's core, and the interpreter, from under its clock.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agent.api import Attempt, Job
from agent.selection import best
from services.figures import ratio, span
from services.text import line


class Progress(Protocol):
    """Shows how a job comes on. Use as a context."""

    def say(self, text: str) -> None:
        """What is being done now."""
        ...

    def keep(self, text: str) -> None:
        """A line that stays on the screen."""
        ...

    def update(self, job: Job, attempts: Sequence[Attempt]) -> None:
        """Where the job stands."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_progress() -> Progress:
    """The one that fits standard error."""
    console = Console(stderr=True, highlight=False)
    return LiveProgress(console) if console.is_terminal and not console.is_dumb_terminal else LineProgress()


def counts(attempts: Sequence[Attempt]) -> str:
    """Attempts by verdict, or by state where they have none yet."""
    words = Counter(a.evaluation.verdict.value if a.evaluation else a.state.value for a in attempts)
    return ", ".join(f"{n} {word}" for word, n in words.most_common()) or "none yet"


def best_so_far(attempts: Sequence[Attempt]) -> str:
    """The best attempt against its baseline."""
    top = best(attempts)
    if top is None or top.evaluation is None or top.evaluation.timing is None:
        return "nothing accepted yet"
    timing = top.evaluation.timing
    return f"{ratio(timing.speedup)} against {timing.baseline}, attempt {top.number}"


def left(job: Job, since: float = 0.0) -> str:
    """What remains of the budget, `since` seconds after the job was read."""
    if job.budget.seconds is None:
        return "no time limit"
    return f"{span(job.budget.seconds - job.seconds_used - since)} left"


class LineProgress:
    """Lines, for logs and pipes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, text: str) -> None:
        """See `Progress.say`."""
        print(line(text, 400), file=sys.stderr, flush=True)

    def keep(self, text: str) -> None:
        """See `Progress.keep`."""
        self.say(text)

    def update(self, job: Job, attempts: Sequence[Attempt]) -> None:
        """See `Progress.update`."""
        self.say(f"attempts: {counts(attempts)}; best: {best_so_far(attempts)}; {left(job)}")


class LiveProgress:
    """A table that stays in place and is drawn anew when something happened."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._now = ""
        self._job: Job | None = None
        self._attempts: Sequence[Attempt] = ()
        self._read_at = time.monotonic()

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """See `Progress.say`."""
        self._now = line(text, 160)
        self._draw()

    def keep(self, text: str) -> None:
        """See `Progress.keep`."""
        self._live.console.print(Text(line(text, 400)))

    def update(self, job: Job, attempts: Sequence[Attempt]) -> None:
        """See `Progress.update`."""
        self._job, self._attempts, self._read_at = job, attempts, time.monotonic()
        self._draw()

    def _draw(self) -> None:
        table = Table(show_header=False, box=None, pad_edge=False)
        if self._job is not None:
            since = time.monotonic() - self._read_at
            table.add_row(Text("job", style="dim"), f"{self._job.id}  {left(self._job, since)}")
            table.add_row(Text("attempts", style="dim"), counts(self._attempts))
            table.add_row(Text("best", style="dim"), Text(best_so_far(self._attempts), style="bold"))
        table.add_row(Text("now", style="dim"), Text(self._now))
        self._live.update(table, refresh=True)
