"""Where a candidate is entered."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evaluator.problem.candidate import Candidate, CandidateError, Entry, Language, Style
from evaluator.problem.contract import Problem
from evaluator.problem.entry import parse_candidate, read_header
from evaluator.problem.load import parse_problem

NATIVE = """CONTRACT = {
    "inputs": {"x": {"shape": [4], "dtype": "float32"}, "w": {"shape": [4], "dtype": "float32"}},
    "outputs": {"y": {"shape": [4], "dtype": "float32"}},
}
"""
FUNCTION = parse_problem("f", NATIVE + "def reference(x, w): return x * w\n")
MODULE = parse_problem("m", NATIVE + "class Model(nn.Module):\n def forward(self, x, w): return x * w\n")
SILENT = parse_problem(
    "s",
    "class Model(nn.Module):\n def forward(self, x): pass\n"
    "def get_inputs(): return []\ndef get_init_inputs(): return []\n",
)
NEW = "class ModelNew(nn.Module):\n    pass\n"


def python(source: str, problem: Problem = FUNCTION, files: Mapping[str, str] | None = None) -> Entry:
    """The entry of a Python candidate."""
    return parse_candidate(Candidate({"candidate.py": source, **(files or {})}, Language.PYTHON), problem)


@pytest.mark.parametrize(
    ("source", "style"),
    [
        ("def run(x, w): pass", Style.FUNCTIONAL),
        ("def run(x, w, out): pass", Style.DESTINATION),
        ("def run(x, w, out=None): pass", Style.FUNCTIONAL),
        ("def run(x, w=None): pass", Style.FUNCTIONAL),
        ("run = lambda x, w: x", Style.FUNCTIONAL),
        ("def run(*args): pass", None),
        ("@torch.compile\ndef run(x, w): pass", None),
        ("run = torch.compile(f)", None),
        ("from kernels import run", None),
        ("try:\n    import fast\n    run = fast.run\nexcept ImportError:\n    run = None", None),
    ],
)
def test_run_is_called_by_its_number_of_required_parameters(source: str, style: Style | None) -> None:
    assert python(source) == Entry("run", style)


@pytest.mark.parametrize("problem", [MODULE, SILENT])
def test_the_runner_decides_where_the_contract_cannot_count(problem: Problem) -> None:
    assert python("def run(x, w): pass", problem) == Entry("run", None)


@pytest.mark.parametrize(
    "source",
    [NEW, NEW + "def run(x): pass", "ModelNew = build()", "if 1:\n    " + NEW.replace("\n", "\n    ")],
)
def test_model_new_comes_first(source: str) -> None:
    assert python(source, SILENT) == Entry("ModelNew", Style.MODULE)


@pytest.mark.parametrize(
    ("header", "entry"),
    [
        ("entry=fast", Entry("fast", Style.DESTINATION)),
        ("style=functional entry=fast", Entry("fast", Style.FUNCTIONAL)),
        ("style=destination", Entry("run", Style.DESTINATION)),
        ("style=module", Entry("ModelNew", Style.MODULE)),
        ("entry=Other", Entry("Other", Style.MODULE)),
        ("entry=Other style=functional", Entry("Other", Style.FUNCTIONAL)),
    ],
)
def test_the_header_wins(header: str, entry: Entry) -> None:
    functions = "def run(*a): pass\ndef fast(a, b, c): pass\n"
    source = f'"""Doc."""\n#  kernelwright: {header}\n{NEW}{functions}class Other: pass\n'
    assert python(source) == entry


def test_a_header_may_name_what_is_bound_dynamically() -> None:
    header = "# kernelwright: entry=made style=functional\n"
    assert python(header + "from kernels import *\n") == Entry("made", Style.FUNCTIONAL)
    with pytest.raises(CandidateError, match="does not define"):
        python(header + "x = 1\n")


@pytest.mark.parametrize(
    "source",
    [
        'text = """\n# kernelwright: entry=a\n"""',
        "if x:\n    # kernelwright: style=module\n    pass",
        "# kernelwright: a softmax",
    ],
)
def test_only_a_comment_of_its_own_with_keys_is_a_header(source: str) -> None:
    header = read_header(source)
    assert (header.entry, header.style) == (None, None)


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("entry=a b", "'b' is not understood"),
        ("style=modul", "none of module, functional"),
        ("entry=a.b", "not a Python name"),
        ("entry=a entry=b", "not understood"),
        ("start=a", "write entry=NAME"),
        ("entry=a\n# kernelwright: entry=b", "keep one"),
    ],
)
def test_a_wrong_header_is_refused(header: str, hint: str) -> None:
    with pytest.raises(CandidateError, match=hint):
        python(f"# kernelwright: {header}\ndef run(x, w): pass\n")


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("", "is empty"),
        (" \n\t\n", "is empty"),
        ("\ufeff", "is empty"),
        ("x = 1\0", "NUL"),
        ("x = '\ud800'", "surrogate"),
        ("#" * ((1 << 20) + 1), "at most 1048576"),
        ("def run(x:\n", "not valid Python: line 1"),
        ("x = " + "(" * 5000, "candidate.py"),
        ("def softmax(x): pass", "no entry point: define class ModelNew"),
        ("# kernelwright: style=module\ndef run(x, w): pass", "define class ModelNew"),
        ("async def run(x, w): pass", "is async"),
        ("def run(x): pass", "takes 1 parameters; it is called with 2"),
        ("def run(a, b, c, d): pass", "takes 4 parameters"),
        ("def run(x, w, *, out): pass", "keyword-only"),
    ],
)
def test_what_is_no_candidate_is_refused(source: str, hint: str) -> None:
    with pytest.raises(CandidateError, match=hint):
        python(source)


@pytest.mark.parametrize(
    "source",
    [
        "\ufeffdef run(x, w): pass",
        "import os, ctypes, subprocess\ndef run(x, w):\n    '''eval exec torch.matmul'''\n",
        "SOURCE = '''\nclass ModelNew\n'''\ndef run(x, w): pass",
    ],
)
def test_an_honest_candidate_is_not_refused_for_its_words(source: str) -> None:
    assert python(source) == Entry("run", Style.FUNCTIONAL)


@pytest.mark.parametrize(
    "name", ["../x.py", "/x.py", "a/../b.py", "a//b.py", "a\\b.py", "", ".", "a\nb.py", "x" * 201]
)
def test_file_names_stay_inside_the_folder(name: str) -> None:
    with pytest.raises(CandidateError, match="plain relative file name"):
        python("def run(x, w): pass", files={name: "text"})


def test_files_cannot_lie_below_files_and_are_limited_in_number_and_sum() -> None:
    run = "def run(x, w): pass"
    python(run, files={"a/__init__.py": "", "b.txt": " "})
    with pytest.raises(CandidateError, match="has the name of a file"):
        python(run, files={"candidate.py/x": "text"})
    with pytest.raises(CandidateError, match="at most 64"):
        python(run, files={f"f{i}.py": "" for i in range(64)})
    with pytest.raises(CandidateError, match="in all"):
        python(run, files={f"f{i}.py": "#" * (1 << 20) for i in range(4)})


def test_a_main_file_is_needed() -> None:
    with pytest.raises(CandidateError, match=r"no candidate\.py"):
        parse_candidate(Candidate({"kernel.py": "x = 1"}, Language.PYTHON), FUNCTION)


def test_a_cpp_candidate_needs_the_exported_function_in_one_of_its_files() -> None:
    entry = Entry("kernelwright_run", Style.DESTINATION)
    exported = 'extern "C" int kernelwright_run(const kw_args *a) { return 0; }'
    for files in ({"candidate.cpp": exported}, {"candidate.cpp": "int x;", "run.cpp": exported}):
        assert parse_candidate(Candidate(files, Language.CPP), FUNCTION) == entry
    for source, hint in (
        ("int run();", "kernelwright.h"),
        ("\n", "is empty"),
        ("kernelwright_runner", "no entry"),
    ):
        with pytest.raises(CandidateError, match=hint):
            parse_candidate(Candidate({"candidate.cpp": source}, Language.CPP), FUNCTION)
