"""Building C++ candidates: what is asked of the sandbox, what is made of its answer, what is kept."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluator.build.builder import MAX_DIAGNOSTICS, Builder, Diagnostic, diagnostics
from evaluator.build.cache import BuildCache
from evaluator.problem.candidate import Candidate, Language
from sandbox.api import (
    Command,
    Completed,
    EndKind,
    ExitStatus,
    Guarantee,
    Profile,
    Sandbox,
    Zygote,
)

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
FAILED = "candidate.cpp:3:5: error: expected ';'\n"
CANDIDATE = Candidate({"candidate.cpp": "int x;", "parts/more.cpp": "int y;", "own.h": ""}, Language.CPP)


class OneAnswer(Sandbox):
    """Answers every command with the same completion, and remembers what it was asked."""

    name = "one answer"

    def __init__(self, completed: Completed) -> None:
        self.completed = completed
        self.commands: list[Command] = []

    def guarantees(self) -> tuple[Guarantee, ...]:
        return ()

    def zygote(self, preload: Sequence[str]) -> Zygote:
        raise NotImplementedError

    def run(self, command: Command, profile: Profile, timeout: float) -> Completed:
        self.commands.append(command)
        return self.completed

    def close(self) -> None:
        pass


def completed(
    code: int = 0, output: str = "", library: bytes | None = b"ELF", late: bool = False
) -> Completed:
    files = {} if library is None else {"candidate.so": library}
    status = ExitStatus(EndKind.KILLED_BY_US if late else EndKind.EXITED, code)
    return Completed(status, late, output.encode(), False, files, 0.5)


@needs_compiler
def test_a_library_is_built_once_and_then_taken_from_the_cache(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed())
    builder = Builder(sandbox, BuildCache(tmp_path), [0])
    first, second = (builder.build(CANDIDATE, 5.0) for _ in range(2))
    assert (first.library, first.cached, first.seconds) == (b"ELF", False, 0.5)
    assert (second.library, second.cached) == (b"ELF", True)
    (command,) = sandbox.commands
    assert [a for a in command.argv if a.endswith(".cpp")] == ["candidate.cpp", "parts/more.cpp"]
    assert set(command.files) == {"candidate.cpp", "parts/more.cpp", "own.h", "kernelwright.h"}


@needs_compiler
def test_other_sources_are_another_build(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed())
    builder = Builder(sandbox, BuildCache(tmp_path), [0])
    builder.build(CANDIDATE, 5.0)
    builder.build(Candidate({"candidate.cpp": "int z;"}, Language.CPP), 5.0)
    assert len(sandbox.commands) == 2


@needs_compiler
def test_a_failure_is_a_value_and_is_not_kept(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed(1, FAILED))
    builder = Builder(sandbox, BuildCache(tmp_path), [0])
    for _ in range(2):
        build = builder.build(CANDIDATE, 5.0)
        assert build.library is None
        assert build.diagnostics == (Diagnostic("candidate.cpp", 3, 5, "error", "expected ';'"),)
        assert build.output == FAILED
    assert len(sandbox.commands) == 2


@needs_compiler
def test_a_compiler_that_was_stopped_says_so(tmp_path: Path) -> None:
    build = Builder(OneAnswer(completed(late=True)), BuildCache(tmp_path), [0]).build(CANDIDATE, 5.0)
    assert build.timed_out
    assert build.library is None


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
