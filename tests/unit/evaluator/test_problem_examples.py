"""The shipped examples: every problem loads, computes what it declares, and the candidates match it."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from evaluator.harness.abi import bind
from evaluator.problem.candidate import Language, Style
from evaluator.problem.contract import Contract, DistributionKind, InputSpec
from evaluator.problem.entry import parse_candidate
from evaluator.problem.expressions import evaluate, sizes
from evaluator.problem.load import load_candidate, load_problem

ROOT = Path(__file__).parents[3]
PROBLEMS = sorted((ROOT / "examples").glob("*.py"))
CANDIDATES = sorted(p for p in (ROOT / "examples" / "candidates").iterdir() if p.suffix in (".py", ".cpp"))


def load_module(path: Path) -> ModuleType:
    """Our own example file, imported."""
    spec = importlib.util.spec_from_file_location(f"example_{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(spec: InputSpec, axes: dict[str, int]) -> Any:
    """Values of the declared kind, in plain torch."""
    shape, drawn = sizes(spec.shape, axes), spec.distribution
    dtype = getattr(torch, spec.dtype)
    if spec.scalar:
        return 1.5
    if drawn.kind is DistributionKind.INTEGER:
        low, high = (
            int(evaluate(b, axes)) if isinstance(b, str) else int(b) for b in (drawn.low, drawn.high)
        )
        return torch.randint(low, high, shape, dtype=dtype)
    if drawn.kind is DistributionKind.BERNOULLI:
        return torch.rand(shape) < drawn.p
    return torch.randn(shape, dtype=dtype)


def small_and_odd(contract: Contract) -> list[dict[str, int]]:
    """Points of the envelope near its lower boundary."""
    return [{a.name: max(a.low, size) for a in contract.axes} for size in (1, 7, 37)]


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda p: p.stem)
def test_a_problem_loads_and_computes_what_it_declares(path: Path) -> None:
    problem, module = load_problem(path), load_module(path)
    contract = problem.contract
    if contract.inputs is None:
        result = module.Model(*module.get_init_inputs())(*module.get_inputs())
        assert torch.isfinite(result).all()
        return
    assert 2 <= len(contract.workloads) <= 4
    assert contract.outputs is not None
    for axes in small_and_odd(contract):
        result = module.reference(*(draw(s, axes) for s in contract.inputs))
        outputs = result if isinstance(result, tuple) else (result,)
        declared = [(sizes(o.shape, axes), getattr(torch, o.dtype)) for o in contract.outputs]
        assert [(tuple(o.shape), o.dtype) for o in outputs] == declared


def test_the_readme_names_every_file() -> None:
    text = (ROOT / "examples" / "README.md").read_text()
    missing = [p.name for p in [*PROBLEMS, *CANDIDATES] if p.name not in text]
    assert not missing


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_header_is_c_and_the_compiled_candidate_matches_its_reference(tmp_path: Path) -> None:
    include = f"-I{ROOT / 'evaluator' / 'build'}"
    (tmp_path / "probe.c").write_text('#include "kernelwright.h"\n')
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", include]
    probe = [str(tmp_path / "probe.c"), "-fsyntax-only"]
    subprocess.run(["g++", "-xc", "-std=c99", *strict, *probe], check=True)
    subprocess.run(["g++", "-xc++", "-std=c++17", *strict, *probe], check=True)
    library = tmp_path / "candidate.so"
    source = str(ROOT / "examples" / "candidates" / "softmax.cpp")
    flags = ["-std=c++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared"]
    subprocess.run(["g++", *flags, *strict[:2], include, source, "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    for shape in ((1, 1), (3, 257), (64, 1000)):
        x, y = torch.randn(shape), torch.full(shape, float("nan"))
        bind(loaded, "kernelwright_run", 1, [x], [], [y])()
        torch.testing.assert_close(y, torch.softmax(x, -1))
    with pytest.raises(RuntimeError, match="returned 2"):
        bind(loaded, "kernelwright_run", 1, [torch.randn(3)], [], [torch.empty(3)])()


@pytest.mark.parametrize("path", [p for p in CANDIDATES if p.suffix == ".py"], ids=lambda p: p.stem)
def test_a_python_candidate_matches_its_reference(path: Path) -> None:
    problem = load_problem(ROOT / "examples" / path.name)
    reference, candidate = load_module(ROOT / "examples" / path.name), load_module(path)
    entry = parse_candidate(load_candidate(path), problem)
    target = getattr(candidate, entry.name)
    if entry.style is Style.MODULE:
        expected, given = (c(*reference.get_init_inputs()) for c in (reference.Model, target))
        given.load_state_dict(expected.state_dict())
        inputs = reference.get_inputs()
        torch.testing.assert_close(given(*inputs), expected(*inputs))
        return
    assert problem.contract.inputs is not None
    for axes in small_and_odd(problem.contract):
        inputs = [draw(s, axes) for s in problem.contract.inputs]
        expected = reference.reference(*inputs)
        result = torch.full_like(expected, float("nan"))
        if entry.style is Style.DESTINATION:
            assert target(*inputs, result) is None
        else:
            result = target(*inputs)
        torch.testing.assert_close(result, expected)


def test_candidates_of_every_style_are_shipped() -> None:
    found = set()
    for path in CANDIDATES:
        candidate = load_candidate(path)
        entry = parse_candidate(candidate, load_problem(ROOT / "examples" / f"{path.stem}.py"))
        found.add((candidate.language, entry.style))
    python = {(Language.PYTHON, style) for style in Style}
    assert found == python | {(Language.CPP, Style.DESTINATION)}
