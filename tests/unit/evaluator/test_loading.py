"""Foreign files are laid down inside their folder, imported, and called as their parameters say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from evaluator.harness.loading import import_main, lay_down, style_of
from evaluator.harness.wire import Load


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """A candidate's folder; what it put into the interpreter is taken out again."""
    path, modules = list(sys.path), dict(sys.modules)
    yield str(tmp_path / "candidate")
    sys.path[:] = path
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]


def load(style: str = "", inputs: int = 2, states: int = 0, outputs: int = 1) -> Load:
    return Load({}, "candidate.py", "run", style, False, 1, inputs, states, outputs)


def test_the_main_file_finds_its_neighbours(folder: str) -> None:
    lay_down(
        {"candidate.py": "from parts.inner import N\nrun = N + 1\n", "parts/inner.py": "N = 41\n"}, folder
    )
    assert import_main("candidate.py", folder).run == 42
    assert sys.modules["candidate"].__file__ == os.path.join(folder, "candidate.py")


@pytest.mark.parametrize("name", ["../x.py", "/etc/x", "a/../../x.py", "..", "."])
def test_no_name_leaves_the_folder(folder: str, name: str) -> None:
    with pytest.raises(ValueError, match="leaves the candidate's folder"):
        lay_down({name: ""}, folder)


def test_text_is_laid_down_as_it_is(folder: str) -> None:
    lay_down({"candidate.py": "x = 1\r\n# ä\n"}, folder)
    assert Path(folder, "candidate.py").read_bytes() == "x = 1\r\n# ä\n".encode()


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (lambda x, y: None, load(), ("functional", False)),
        (lambda x, y, out: None, load(), ("destination", False)),
        (lambda x, y, w, b: None, load(states=2), ("functional", True)),
        (lambda x, y, w, b, out: None, load(states=2), ("destination", True)),
        (lambda x, y, w: None, load(states=1), ("functional", True)),
        (lambda x, y, w: None, load("destination", states=1), ("destination", False)),
        (lambda x, y, eps=1e-5: None, load(), ("functional", False)),
        (lambda x, y, *, eps=1e-5: None, load(), ("functional", False)),
        (lambda *a: None, load(), ("functional", False)),
        (lambda *a: None, load("destination"), ("destination", False)),
        (torch.add, load(), ("functional", False)),
    ],
)
def test_the_number_of_parameters_tells_the_style(
    function: Callable[..., object], given: Load, expected: tuple[str, bool]
) -> None:
    assert style_of(function, given) == expected


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda x: None, load()),
        (lambda x, y, z, more: None, load()),
        (lambda x, y: None, load("destination")),
        (lambda x, y, out: None, load("functional")),
    ],
)
def test_a_number_that_fits_no_style_is_refused_with_what_would_fit(
    function: Callable[..., object], given: Load
) -> None:
    with pytest.raises(
        TypeError, match=r"run takes \d required positional parameters; expected 2 \(inputs\)"
    ):
        style_of(function, given)
