"""What became of a find when it was judged once more, in words."""

from __future__ import annotations

from collections.abc import Sequence

from agent.api import Attempt, AttemptState
from agent.confirmation import confirmed, is_confirmed
from services.figures import MISSING, ratio
from services.text import line


def standing(attempt: Attempt, floor: float) -> str:
    """For a column of a table: what the confirmation said, or a dash where there is none."""
    if attempt.state is AttemptState.CONFIRMING:
        return "under way"
    made = attempt.confirmation
    if made is None:
        return MISSING
    figure = made.verdict.value if made.timing is None else ratio(made.timing.speedup)
    return f"{'held' if is_confirmed(attempt, floor) else 'not held'}: {figure}"


def sentence(attempts: Sequence[Attempt], best: Attempt | None, floor: float) -> str:
    """Whether something was found, for the end of a job."""
    found = confirmed(attempts, floor)
    if found is not None:
        return f"Something faster was found, and confirmed: attempt {found.number}."
    if best is None or best.evaluation is None or not best.evaluation.found_something(floor):
        return "Nothing better was found."
    if best.confirmation is None:
        return f"Attempt {best.number} looked faster, but is not confirmed."
    reason = f": {line(best.confirmation.reason, 200)}" if best.confirmation.reason else ""
    return (
        f"Nothing better was found: attempt {best.number} looked faster, but that was not confirmed{reason}."
    )
