"""Problems and candidates from files that a user names. Reads and parses; never imports or runs them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaluator.problem import kernelbench, native
from evaluator.problem.candidate import MAX_SOURCE_BYTES, Candidate, CandidateError, Language
from evaluator.problem.contract import Problem, ProblemError
from evaluator.problem.reference import FUNCTION, MODULE
from evaluator.problem.source import check_filled, check_text, parse_python, read_source

MAX_PROBLEM_BYTES = 1 << 20
MAX_FILES = 64
MAX_CANDIDATE_BYTES = 4 << 20

_MAIN = {".py": ("candidate.py", Language.PYTHON), ".cpp": ("candidate.cpp", Language.CPP)}


def load_problem(path: Path | str, settings: Mapping[str, object] | None = None) -> Problem:
    """The problem in a Python file, native (with a contract) or KernelBench.

    settings: NAME → literal, see `native.parse` and `kernelbench.parse`. Raises ProblemError.
    """
    path = Path(path)
    if path.suffix == ".toml":
        raise ProblemError(f"{path} is a contract; give the Python file beside it: {path.with_suffix('.py')}")
    source = read_source(path, MAX_PROBLEM_BYTES, ProblemError)
    beside = path.with_suffix(".toml")
    toml = read_source(beside, MAX_PROBLEM_BYTES, ProblemError) if beside.exists() else None
    return parse_problem(path.stem, source, toml, settings)


def parse_problem(
    name: str, source: str, toml: str | None = None, settings: Mapping[str, object] | None = None
) -> Problem:
    """The problem in the text of a file called `name` (without suffix). Raises ProblemError."""
    name = "".join(c if c.isprintable() else "_" for c in name)[:200]
    check_filled(source, name, ProblemError)
    check_text(source, name, MAX_PROBLEM_BYTES, ProblemError)
    tree = parse_python(source, name, ProblemError)
    if toml is not None or native.has_contract(tree):
        return native.parse(name, source, toml, settings or {})
    if kernelbench.looks_like(tree):
        return kernelbench.parse(name, source, settings or {})
    raise ProblemError(
        f"{name} is no problem: define `def {FUNCTION}(...)` or `class {MODULE}` with a `{native.VARIABLE}` "
        "(or a TOML file of the same name beside it), or KernelBench's Model, get_inputs and get_init_inputs"
    )


def load_candidate(path: Path | str) -> Candidate:
    """The candidate in a `.py` or `.cpp` file, or in a folder that holds `candidate.py` or `candidate.cpp`.

    Every file of a folder belongs to it, except hidden ones and `__pycache__`. Raises CandidateError.
    """
    path = Path(path)
    if path.is_dir():
        return _load_folder(path)
    if path.suffix not in _MAIN:
        raise CandidateError(
            f"{path}: a candidate is a .py or .cpp file, or a folder with candidate.py or .cpp"
        )
    name, language = _MAIN[path.suffix]
    return Candidate({name: read_source(path, MAX_SOURCE_BYTES, CandidateError)}, language)


def _load_folder(folder: Path) -> Candidate:
    present = [(name, language) for name, language in _MAIN.values() if (folder / name).exists()]
    if len(present) != 1:
        found = "both" if present else "neither"
        raise CandidateError(
            f"{folder} holds {found} of candidate.py and candidate.cpp; it needs one of them"
        )
    try:
        paths = [p for p in sorted(folder.rglob("*")) if not _ignored(p.relative_to(folder))]
    except OSError as e:
        raise CandidateError(f"{folder} cannot be read: {e.strerror}") from e
    files: dict[str, str] = {}
    for path in paths:
        if path.is_symlink():
            raise CandidateError(f"{path} is a symbolic link; put the file itself there")
        if path.is_dir():
            continue
        if len(files) == MAX_FILES:
            raise CandidateError(f"{folder} holds more than {MAX_FILES} files")
        files[path.relative_to(folder).as_posix()] = read_source(path, MAX_SOURCE_BYTES, CandidateError)
    return Candidate(files, present[0][1])


def _ignored(relative: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
