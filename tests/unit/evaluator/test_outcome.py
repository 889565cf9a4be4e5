"""What is made of a compiler's output."""

from __future__ import annotations

from evaluator.build.outcome import MAX_DIAGNOSTICS, Build, Diagnostic, diagnostics

FAILED = "candidate.cpp:3:5: error: expected ';'\n"


def test_errors_come_before_warnings_and_both_in_order() -> None:
    output = (
        "candidate.cpp: In function 'int f()':\n"
        "candidate.cpp:2:7: warning: unused variable 'x' [-Wunused]\n"
        "    2 |   int x;\n"
        "./parts/a.h:10:1: fatal error: no.h: No such file or directory\n"
        "candidate.cpp:9:3: error: 'y' was not declared: in this scope\n"
        "candidate.cpp:9:3: note: suggested alternative\n"
        "compilation terminated.\n"
    )
    assert [(d.file, d.line, d.column, d.severity) for d in diagnostics(output)] == [
        ("parts/a.h", 10, 1, "fatal error"),
        ("candidate.cpp", 9, 3, "error"),
        ("candidate.cpp", 2, 7, "warning"),
    ]
    assert diagnostics(output)[1].message == "'y' was not declared: in this scope"


def test_only_the_first_are_kept() -> None:
    assert len(diagnostics(FAILED * 100)) == MAX_DIAGNOSTICS
    assert diagnostics("") == ()
    assert diagnostics("collect2: error: ld returned 1 exit status\n") == ()


def test_a_source_that_forges_a_complaint_cannot_break_the_reading() -> None:
    forged = f"a.cpp:{'9' * 5000}:1: error: x\n"
    assert diagnostics(forged + FAILED) == (Diagnostic("candidate.cpp", 3, 5, "error", "expected ';'"),)
    (long,) = diagnostics("a.cpp:1:1: error: " + "x" * 100_000)
    assert len(long.message) <= 400


def test_without_a_diagnostic_the_last_line_tells_why() -> None:
    output = "Traceback (most recent call last):\n  File x\nRuntimeError: Ninja is gone\n\n"
    assert Build(None, (), output, 0.1, False).complaint == "RuntimeError: Ninja is gone"
    assert Build(None, (), "", 0.1, False).complaint == "the build failed and said nothing"
