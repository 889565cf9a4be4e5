"""How a runner ended or what it raised, as the verdict that a candidate deserves for it."""

from __future__ import annotations

import signal

import pytest

from evaluator.evaluation import Verdict
from evaluator.harness.wire import Failed
from evaluator.judge.faults import Fault, of_exit, of_failure
from sandbox.api import EndKind, ExitStatus


@pytest.mark.parametrize(
    ("status", "full", "verdict", "words"),
    [
        (ExitStatus(EndKind.EXITED, 0), False, Verdict.RUNTIME_ERROR, "exited with status 0"),
        (ExitStatus(EndKind.EXITED, 3), False, Verdict.RUNTIME_ERROR, "exited with status 3"),
        (ExitStatus(EndKind.SIGNALLED, signal.SIGSEGV), False, Verdict.RUNTIME_ERROR, "SIGSEGV"),
        (ExitStatus(EndKind.SIGNALLED, 77), False, Verdict.RUNTIME_ERROR, "signal 77"),
        (ExitStatus(EndKind.SIGNALLED, signal.SIGXCPU), False, Verdict.RESOURCE_LIMIT, "SIGXCPU"),
        (ExitStatus(EndKind.SIGNALLED, signal.SIGXFSZ), False, Verdict.RESOURCE_LIMIT, "SIGXFSZ"),
        (ExitStatus(EndKind.OUT_OF_MEMORY), False, Verdict.RESOURCE_LIMIT, "more memory"),
        (ExitStatus(EndKind.EXITED, 1), True, Verdict.RESOURCE_LIMIT, "printed more"),
        (ExitStatus(EndKind.SIGNALLED, signal.SIGPIPE), True, Verdict.RESOURCE_LIMIT, "printed more"),
        (ExitStatus(EndKind.KILLED_BY_US), False, Verdict.RUNTIME_ERROR, "was ended"),
    ],
)
def test_the_end_of_a_process(status: ExitStatus, full: bool, verdict: Verdict, words: str) -> None:
    fault = of_exit(status, full)
    assert fault.verdict is verdict
    assert words in fault.reason


@pytest.mark.parametrize(
    ("kind", "text", "verdict"),
    [
        ("ValueError", "Traceback ...\nValueError: bad shape", Verdict.RUNTIME_ERROR),
        ("SyntaxError", "SyntaxError: invalid syntax", Verdict.COMPILE_ERROR),
        ("IndentationError", "IndentationError: unexpected indent", Verdict.COMPILE_ERROR),
        ("MemoryError", "MemoryError", Verdict.RESOURCE_LIMIT),
        ("RuntimeError", "RuntimeError: ... can't allocate memory: you tried ...", Verdict.RESOURCE_LIMIT),
        ("SystemExit", "SystemExit: 0", Verdict.RUNTIME_ERROR),
    ],
)
def test_what_foreign_code_raised(kind: str, text: str, verdict: Verdict) -> None:
    fault = of_failure(Failed(kind, text))
    assert fault.verdict is verdict
    assert fault.reason == "raised " + text.splitlines()[-1]
    assert fault.text == text


def test_a_reason_is_one_short_line_whatever_was_raised() -> None:
    assert of_failure(Failed("KeyError", " \n")).reason == "raised KeyError"
    assert of_failure(Failed("KeyError", "")).reason == "raised KeyError"
    assert len(of_failure(Failed("X", "y" * 10_000)).reason) <= 300
    assert len(Fault(Verdict.INTEGRITY, "\x1b" * 10_000).reason) == 600
