"""What ends a judgement early, inside the judge.

    Fault       the foreign code in a runner is to blame; carries the verdict it would deserve as a candidate

A Fault never leaves the judge: the pipeline turns it into a failed gate where a candidate ran, into
InvalidProblem where a reference did.
"""

from __future__ import annotations

import signal

from evaluator.evaluation import Verdict
from evaluator.harness.wire import Failed
from evaluator.printable import printable
from sandbox.api import EndKind, ExitStatus

_RESOURCE_SIGNALS = {signal.SIGXCPU, signal.SIGXFSZ}
MAX_REASON = 600
OUTPUT_FULL = "printed more than is allowed"
_OUT_OF_MEMORY = ("can't allocate memory", "Cannot allocate memory", "std::bad_alloc")


class Fault(Exception):
    """Foreign code failed in a way that names a verdict. What it says of itself is made printable, and `reason` is
    cut to 600 characters."""

    def __init__(self, verdict: Verdict, reason: str, text: str = "") -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = printable(reason[:MAX_REASON])[:MAX_REASON]
        self.text = printable(text)


def of_exit(status: ExitStatus, output_full: bool) -> Fault:
    """The fault of a runner that ended by itself."""
    if status.kind is EndKind.OUT_OF_MEMORY:
        return Fault(Verdict.RESOURCE_LIMIT, "used more memory than the contract allows")
    if output_full:
        return Fault(Verdict.RESOURCE_LIMIT, OUTPUT_FULL)
    if status.kind is EndKind.KILLED_BY_US:
        return Fault(
            Verdict.RUNTIME_ERROR, "the process was ended because it no longer answered as it should"
        )
    if status.kind is EndKind.SIGNALLED:
        name = _signal_name(status.code)
        if status.code in _RESOURCE_SIGNALS:
            return Fault(Verdict.RESOURCE_LIMIT, f"ended by {name}: a resource limit")
        return Fault(Verdict.RUNTIME_ERROR, f"the process was ended by {name}")
    return Fault(Verdict.RUNTIME_ERROR, f"the process exited with status {status.code} instead of answering")


def of_failure(failed: Failed) -> Fault:
    """The fault of foreign code that raised."""
    last = failed.text.strip().splitlines()[-1] if failed.text.strip() else failed.kind
    reason = f"raised {last}"[:300]
    if failed.kind == "MemoryError" or any(t in failed.text for t in _OUT_OF_MEMORY):
        return Fault(Verdict.RESOURCE_LIMIT, reason, failed.text)
    if failed.kind in ("SyntaxError", "IndentationError", "TabError"):
        return Fault(Verdict.COMPILE_ERROR, reason, failed.text)
    return Fault(Verdict.RUNTIME_ERROR, reason, failed.text)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
