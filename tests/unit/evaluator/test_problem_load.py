"""Problems and candidates from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.problem.candidate import CandidateError, Language
from evaluator.problem.contract import ProblemError
from evaluator.problem.load import load_candidate, load_problem, parse_problem

MODEL = "class Model(Module):\n    def forward(self, x): return x\n"
DRAWN = "def get_inputs(): return []\ndef get_init_inputs(): return []\n"
NATIVE = "def reference(x): return x\n"
TOML = 'inputs.x = { shape = [4], dtype = "float32" }\n'


def test_the_format_is_found_by_what_the_file_holds(tmp_path: Path) -> None:
    bench, native, both = tmp_path / "bench.py", tmp_path / "native.py", tmp_path / "both.py"
    bench.write_text(MODEL + DRAWN)
    native.write_text(NATIVE)
    native.with_suffix(".toml").write_text(TOML)
    both.write_text(MODEL + DRAWN + "CONTRACT = {'floor': 1.0}\n")
    found = [load_problem(p) for p in (bench, native, both)]
    assert [p.origin for p in found] == ["kernelbench", "native", "native"]
    assert [p.contract.name for p in found] == ["bench", "native", "both"]


def test_the_path_may_be_text_and_settings_reach_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bench.py"
    path.write_text("n = 3\n" + MODEL + DRAWN)
    assert load_problem(str(path), {"n": 4}).reference.source.startswith("n = 4\n")


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("x = = 1\n", "not valid Python: line 1"),
        ("x = 1\n", "is no problem: define"),
        (NATIVE, "is no problem: define"),
        (MODEL, "`get_inputs` is missing"),
        (DRAWN, "no `class Model"),
        ("x" * (1 << 20) + "=1", "at most 1048576"),
    ],
)
def test_text_that_is_no_problem_says_what_to_do(source: str, hint: str) -> None:
    with pytest.raises(ProblemError, match=hint):
        parse_problem("p", source)


def test_files_that_are_no_problem_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(TOML)
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0")
    for name, hint in (
        ("p.toml", "give the Python file"),
        ("binary.py", "binary"),
        ("no.py", "does not exist"),
    ):
        with pytest.raises(ProblemError, match=hint):
            load_problem(tmp_path / name)


def test_a_file_name_with_control_characters_becomes_a_printable_name() -> None:
    assert parse_problem("a\x1b[31mb", MODEL + DRAWN).contract.name == "a_[31mb"


def test_a_single_file_becomes_the_main_file(tmp_path: Path) -> None:
    for name, main, language in (
        ("k.py", "candidate.py", Language.PYTHON),
        ("k.cpp", "candidate.cpp", Language.CPP),
    ):
        (tmp_path / name).write_text("text\n")
        candidate = load_candidate(tmp_path / name)
        assert (dict(candidate.files), candidate.language) == ({main: "text\n"}, language)


def test_a_folder_brings_all_its_files_but_hidden_ones(tmp_path: Path) -> None:
    for name in (
        "candidate.py",
        "kernels/fast.cpp",
        "kernels/__init__.py",
        ".git/config",
        "__pycache__/x.pyc",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# text\n")
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"\0")
    candidate = load_candidate(tmp_path)
    assert set(candidate.files) == {"candidate.py", "kernels/fast.cpp", "kernels/__init__.py"}


def test_paths_that_are_no_candidate_say_what_to_do(tmp_path: Path) -> None:
    for name in ("a.cu", "binary.py", "large.cpp"):
        (tmp_path / name).write_bytes({"a": b"x", "b": b"\0", "l": b"/" * ((1 << 20) + 1)}[name[0]])
    for name, hint in (
        ("a.cu", "a candidate is"),
        ("binary.py", "binary"),
        ("large.cpp", "larger than 1048576"),
        ("no.py", "does not exist"),
    ):
        with pytest.raises(CandidateError, match=hint):
            load_candidate(tmp_path / name)


def test_folders_that_are_no_candidate_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match=r"neither of candidate\.py and"):
        load_candidate(tmp_path)
    (tmp_path / "candidate.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "candidate.py")
    with pytest.raises(CandidateError, match="symbolic link"):
        load_candidate(tmp_path)
    (tmp_path / "link.py").unlink()
    (tmp_path / "candidate.cpp").write_text("x")
    with pytest.raises(CandidateError, match="both of"):
        load_candidate(tmp_path)


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for i in range(65):
        (tmp_path / f"f{i}.py").write_text("")
    (tmp_path / "candidate.py").write_text("x = 1\n")
    with pytest.raises(CandidateError, match="more than 64 files"):
        load_candidate(tmp_path)
