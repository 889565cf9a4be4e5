"""The distribution: its names clash with nobody's, and its wheel holds all that the checkout holds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LAYERS = ("sandbox", "evaluator", "agent", "services", "migrations")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins() -> dict[str, str]:
    """Name → version, from constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {str(canonicalize_name(name)): version for name, version in pairs}


def package_files(root: Path) -> set[str]:
    """Every file of the packages below `root`, relative to it."""
    return {
        path.relative_to(root).as_posix()
        for layer in LAYERS
        for path in (root / layer).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_no_other_distribution_provides_our_top_level_names() -> None:
    providers = packages_distributions()
    assert {name: set(providers[name]) for name in LAYERS} == {name: {"kernelwright"} for name in LAYERS}


def test_every_package_folder_is_listed() -> None:
    folders = {Path(file).parent for file in package_files(ROOT) if file.endswith("/__init__.py")}
    assert {".".join(folder.parts) for folder in folders} == set(project()["tool"]["setuptools"]["packages"])


def test_every_package_folder_can_be_imported_as_a_package() -> None:
    packages = project()["tool"]["setuptools"]["packages"]
    missing = [p for p in packages if not (ROOT / p.replace(".", "/") / "__init__.py").is_file()]
    assert missing == []


def test_every_direct_dependency_is_pinned_inside_its_range() -> None:
    table = project()["project"]
    wanted = [Requirement(text) for text in table["dependencies"] + table["optional-dependencies"]["dev"]]
    pinned = pins()
    outside = [str(r) for r in wanted if pinned.get(canonicalize_name(r.name), "0") not in r.specifier]
    assert outside == []


def test_torch_and_triton_are_pinned_as_a_pair() -> None:
    assert (pins()["torch"], pins()["triton"]) == ("2.13.0", "3.7.1")


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for layer in LAYERS:
        shutil.copytree(ROOT / layer, source / layer, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(tmp_path), str(source)], check=True)

    (wheel,) = tmp_path.glob("kernelwright-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert package_files(source) - held == set()
    foreign = {
        name for name in held if not re.match(rf"({'|'.join(LAYERS)}|kernelwright-[\d.]+\.dist-info)/", name)
    }
    assert foreign == set()
