"""Building C++ candidates: what is asked of the sandbox, what is made of its answer, what is kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evaluator.build.builder import Builder
from evaluator.build.cache import BuildCache
from evaluator.build.first_import import ARCHIVE
from evaluator.build.generated import CODE, REQUEST, Example
from evaluator.build.outcome import Diagnostic
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import Contract, Problem, Reference, ReferenceStyle, Workload
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
        self.profiles: list[Profile] = []

    def guarantees(self) -> tuple[Guarantee, ...]:
        return ()

    def known_gaps(self) -> Mapping[str, str]:
        return {}

    def zygote(self, preload: Sequence[str]) -> Zygote:
        raise NotImplementedError

    def run(self, command: Command, profile: Profile, timeout: float) -> Completed:
        self.commands.append(command)
        self.profiles.append(profile)
        return self.completed

    def close(self) -> None:
        pass


def completed(
    code: int = 0, output: str = "", library: bytes | None = b"ELF", late: bool = False
) -> Completed:
    files = {} if library is None else dict.fromkeys(("candidate.so", ARCHIVE, CODE), library)
    status = ExitStatus(EndKind.KILLED_BY_US if late else EndKind.EXITED, code)
    return Completed(status, late, output.encode(), False, files, 0.5)


@needs_compiler
def test_a_library_is_built_once_and_then_taken_from_the_cache(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed())
    builder = Builder(sandbox, BuildCache(tmp_path), [0])
    first, second = (builder.build(CANDIDATE, 5.0) for _ in range(2))
    assert (first.product, first.cached, first.seconds) == (b"ELF", False, 0.5)
    assert (second.product, second.cached) == (b"ELF", True)
    (command,) = sandbox.commands
    assert [a for a in command.argv if a.endswith(".cpp")] == ["./candidate.cpp", "./parts/more.cpp"]
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
        assert build.product is None
        assert build.diagnostics == (Diagnostic("candidate.cpp", 3, 5, "error", "expected ';'"),)
        assert build.output == FAILED
    assert len(sandbox.commands) == 2


@needs_compiler
def test_a_compiler_that_was_stopped_says_so(tmp_path: Path) -> None:
    build = Builder(OneAnswer(completed(late=True)), BuildCache(tmp_path), [0]).build(CANDIDATE, 5.0)
    assert build.timed_out
    assert build.product is None


EXTENSION = "from torch.utils.cpp_extension import load_inline\n"


def python(text: str) -> Candidate:
    return Candidate({"candidate.py": text}, Language.PYTHON)


def test_plain_python_is_not_imported_by_the_builder(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed())
    assert Builder(sandbox, BuildCache(tmp_path), [0]).imported(python("import torch\n"), 5.0) is None
    assert sandbox.commands == []


@needs_compiler
def test_python_that_builds_at_import_is_imported_once_where_runners_would(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed())
    builder = Builder(sandbox, BuildCache(tmp_path), [0, 1])
    first, second = (builder.imported(python(EXTENSION), 5.0) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.product, first.cached, second.product, second.cached) == (b"ELF", False, b"ELF", True)
    (command,) = sandbox.commands
    assert command.files["candidate/candidate.py"] == EXTENSION.encode()
    assert "evaluator/harness/first_import.py" in command.files
    assert sandbox.profiles[0].environment["TORCH_EXTENSIONS_DIR"] == "/tmp/extensions"
    assert sandbox.profiles[0].environment["OMP_NUM_THREADS"] == "2"


@needs_compiler
def test_extensions_of_one_name_are_two_builds(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed())
    builder = Builder(sandbox, BuildCache(tmp_path), [0])
    for factor in (2, 100):
        builder.imported(python(f'{EXTENSION}load_inline("ext", "x * {factor}")\n'), 5.0)
    assert len(sandbox.commands) == 2


@needs_compiler
def test_an_import_that_fails_is_told_by_its_compiler_s_first_error(tmp_path: Path) -> None:
    builder = Builder(OneAnswer(completed(1, FAILED)), BuildCache(tmp_path), [0])
    build = builder.imported(python(EXTENSION), 5.0)
    assert build is not None
    assert build.product is None
    assert build.complaint == "candidate.cpp:3: expected ';'"


GENERATED = """from torch._inductor.async_compile import AsyncCompile

def call(args):
    arg0_1, arg1_1, arg2_1 = args
    return (arg0_1, )

runner = Runner(partitions=[])
call = runner.call


def get_args():
    return []
"""


def generated(tmp_path: Path, code: str, sandbox: OneAnswer | None = None) -> Candidate | None:
    reference = Reference("class Model: pass\n", "Model", ReferenceStyle.MODULE)
    problem = Problem(Contract('a "name"\n', (Workload("w", {}),)), reference)
    sandbox = sandbox or OneAnswer(completed(library=code.encode()))
    example = Example((4, 2), (2, 1), "float32")
    return Builder(sandbox, BuildCache(tmp_path), [0]).generated(problem, "[3]", [example], True, 5.0)


@needs_compiler
def test_generated_code_becomes_a_candidate_that_takes_inputs_and_state(tmp_path: Path) -> None:
    candidate = generated(tmp_path, GENERATED)
    assert candidate is not None
    assert candidate.main.startswith("# kernelwright: entry=run style=functional\n")
    assert "def run(x0, w0, w1):" in candidate.main
    assert "get_args" not in candidate.main
    compile(candidate.main, "candidate.py", "exec")


@needs_compiler
def test_what_is_not_inductor_s_code_becomes_nothing(tmp_path: Path) -> None:
    assert generated(tmp_path, "print('hello')\n") is None
    assert generated(tmp_path / "other", "", OneAnswer(completed(1, "TypeError: no", None))) is None


@needs_compiler
def test_generated_code_is_asked_for_once(tmp_path: Path) -> None:
    sandbox = OneAnswer(completed(library=GENERATED.encode()))
    assert generated(tmp_path, "", sandbox) == generated(tmp_path, "", sandbox)
    (command,) = sandbox.commands
    assert b'"dynamic": true' in command.files[REQUEST]
