"""Whether files are a candidate, and where it is entered: by syntax, without running them.

docs/candidates.md states the rules for authors. What syntax cannot settle is left to the runner
(`Entry.style` is None), so that no honest candidate is refused for how it is written.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from evaluator.problem.bindings import Parameters, bound, is_dynamic, parameters
from evaluator.problem.candidate import MAX_SOURCE_BYTES, Candidate, CandidateError, Entry, Language, Style
from evaluator.problem.contract import Problem, ReferenceStyle
from evaluator.problem.load import MAX_CANDIDATE_BYTES, MAX_FILES
from evaluator.problem.source import check_filled, check_text, parse_python

MODULE = "ModelNew"
FUNCTION = "run"
CPP_FUNCTION = "kernelwright_run"

_HEADER = re.compile(r"#\s*kernelwright\s*:\s*(.*)")
_EXPORTED = re.compile(rf"\b{CPP_FUNCTION}\b")


@dataclass(frozen=True)
class Header:
    """What the line `# kernelwright: entry=NAME style=STYLE` says; each part may be absent."""

    entry: str | None = None
    style: Style | None = None


def parse_candidate(candidate: Candidate, problem: Problem) -> Entry:
    """Where `candidate` is entered. Raises CandidateError where it is none."""
    _check_files(candidate)
    if candidate.language is Language.CPP:
        return _cpp_entry(candidate)
    tree = parse_python(candidate.main, "candidate.py", CandidateError)
    header = read_header(candidate.main)
    name = header.entry or _entry_name(tree, header)
    statement = bound(tree).get(name)
    if statement is None and not (header.entry and is_dynamic(tree)):
        raise CandidateError(f"the header names entry={name}, which candidate.py does not define")
    if header.style is not None:
        return Entry(name, header.style)
    return Entry(name, _style(name, statement, problem))


def read_header(source: str) -> Header:
    """The header line of Python source: a comment of its own line, anywhere, with `=` in it.

    Raises CandidateError where it is not understood.
    """
    texts = [m.group(1) for m in map(_HEADER.fullmatch, _comments(source)) if m and "=" in m.group(1)]
    if len(texts) > 1:
        raise CandidateError("more than one `# kernelwright:` line; keep one")
    fields: dict[str, str] = {}
    for part in texts[0].split() if texts else ():
        key, equals, value = part.partition("=")
        if not equals or key not in ("entry", "style") or key in fields:
            raise CandidateError(f"header: {part!r} is not understood; write entry=NAME style=STYLE")
        fields[key] = value
    entry, style = fields.get("entry"), fields.get("style")
    if entry is not None and not entry.isidentifier():
        raise CandidateError(f"header: entry={entry} is not a Python name")
    if style is not None and style not in [s.value for s in Style]:
        raise CandidateError(f"header: style={style} is none of {', '.join(s.value for s in Style)}")
    return Header(entry, Style(style) if style else None)


def _comments(source: str) -> list[str]:
    """Comments that stand alone on a line without indentation."""
    if "kernelwright" not in source:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source.removeprefix("\ufeff")).readline)
    try:
        return [t.string.strip() for t in tokens if t.type == tokenize.COMMENT and t.start[1] == 0]
    except (tokenize.TokenError, SyntaxError):
        return []


def _check_files(candidate: Candidate) -> None:
    main = "candidate.py" if candidate.language is Language.PYTHON else "candidate.cpp"
    if main not in candidate.files:
        raise CandidateError(f"there is no {main}")
    if len(candidate.files) > MAX_FILES:
        raise CandidateError(f"{len(candidate.files)} files; at most {MAX_FILES} are taken")
    for name, text in candidate.files.items():
        _check_name(name, candidate.files)
        check_text(text, name, MAX_SOURCE_BYTES, CandidateError)
    check_filled(candidate.main, main, CandidateError)
    total = sum(len(text.encode()) for text in candidate.files.values())
    if total > MAX_CANDIDATE_BYTES:
        raise CandidateError(f"{total} bytes of source in all; at most {MAX_CANDIDATE_BYTES} are taken")


def _check_name(name: str, names: Collection[str]) -> None:
    path = PurePosixPath(name)
    plain = name.isprintable() and len(name) <= 200 and "\\" not in name and path.as_posix() == name
    if not plain or path.is_absolute() or ".." in path.parts or not path.parts:
        raise CandidateError(f"{name!r} is not a plain relative file name")
    if not {parent.as_posix() for parent in list(path.parents)[:-1]}.isdisjoint(names):
        raise CandidateError(f"{name!r} lies in a folder that has the name of a file")


def _cpp_entry(candidate: Candidate) -> Entry:
    if not any(_EXPORTED.search(text) for text in candidate.files.values()):
        raise CandidateError(
            f'no entry point: define extern "C" int {CPP_FUNCTION}(const kw_args *args) (see kernelwright.h)'
        )
    return Entry(CPP_FUNCTION, Style.DESTINATION)


def _entry_name(tree: ast.Module, header: Header) -> str:
    names = bound(tree)
    wanted = {Style.MODULE: (MODULE,), None: (MODULE, FUNCTION)}.get(header.style, (FUNCTION,))
    for name in wanted:
        if name in names:
            return name
    raise CandidateError(
        f"no entry point: define {' or '.join(_spoken(n) for n in wanted)}, "
        "or name another by the line `# kernelwright: entry=NAME style=module|functional|destination`"
    )


def _spoken(name: str) -> str:
    return f"class {name}(nn.Module)" if name == MODULE else f"a function {name}"


def _style(name: str, statement: ast.stmt | None, problem: Problem) -> Style | None:
    if name == MODULE or isinstance(statement, ast.ClassDef):
        return Style.MODULE
    if isinstance(statement, ast.AsyncFunctionDef):
        raise CandidateError(f"{name} is async; write a plain function")
    function: ast.FunctionDef | ast.Lambda | None = None
    if isinstance(statement, ast.FunctionDef) and not statement.decorator_list:
        function = statement
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        function = statement.value
    inputs, outputs = problem.contract.inputs, problem.contract.outputs
    stateful = problem.reference.style is ReferenceStyle.MODULE
    if function is None or inputs is None or outputs is None or stateful:
        return None
    return _style_by_count(name, parameters(function), len(inputs), len(inputs) + len(outputs))


def _style_by_count(name: str, signature: Parameters, inputs: int, both: int) -> Style | None:
    if signature.keywords:
        raise CandidateError(
            f"{name} has keyword-only parameters without a default ({', '.join(signature.keywords)}); "
            "calls are positional"
        )
    if signature.required == inputs:
        return Style.FUNCTIONAL
    if signature.required == both:
        return Style.DESTINATION
    if signature.variadic:
        return None
    for count, style in ((inputs, Style.FUNCTIONAL), (both, Style.DESTINATION)):
        if signature.takes(count):
            return style
    raise CandidateError(
        f"{name} takes {signature.required} parameters; it is called with {inputs} (functional: the inputs) or "
        f"{both} (destination: the inputs, then the outputs)"
    )
