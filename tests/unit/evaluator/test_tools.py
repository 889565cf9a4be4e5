"""The host's tools: a missing one is the machine's fault, and foreign Python finds the same ones everywhere."""

from __future__ import annotations

import shutil

import pytest

from evaluator.build.tools import python_environment, require_extension_tools, search_path
from evaluator.evaluation import InfraError

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@needs_compiler
def test_a_machine_without_ninja_is_at_fault_and_says_what_to_install() -> None:
    with pytest.raises(InfraError, match=r"ninja is not installed: .+ pip install ninja"):
        require_extension_tools("/nowhere")


@needs_compiler
def test_ninja_is_found_where_it_was_installed_with_us() -> None:
    assert shutil.which("ninja", path=search_path()) is not None
    require_extension_tools(search_path())


def test_threads_are_those_that_are_given() -> None:
    environment = python_environment(3)
    assert {environment[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "MAX_JOBS")} == {"3"}
