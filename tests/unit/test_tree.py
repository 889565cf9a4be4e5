"""The tree's habits, as far as a machine can check them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYERS = ("sandbox", "evaluator", "agent", "services", "migrations")
LONGEST_MODULE = 400
LEFT_OUT = {"__pycache__", "node_modules"}
LEFT_OUT_AT_TOP = {"build", "dist", "data", "demo-out"}
TEXT = {".py", ".md", ".toml", ".txt", ".sh", ".yaml", ".yml", ".jinja", ".h", ".cpp", ".mako", ""}


def project_files() -> Iterator[Path]:
    """Every text file of the project; not what was built, cached or installed."""
    for folder, names, files in os.walk(ROOT):
        here = Path(folder)
        names[:] = [
            name
            for name in names
            if name not in LEFT_OUT
            and not (name.startswith(".") and name != ".ci")
            and not name.endswith(".egg-info")
            and not (here == ROOT and name in LEFT_OUT_AT_TOP)
        ]
        yield from (here / file for file in files if Path(file).suffix in TEXT)


def lines_matching(pattern: str) -> list[str]:
    found = []
    for path in project_files():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def test_no_text_names_a_path_of_one_machine() -> None:
    homes = "|".join(["home/[a-z]", "Users/[A-Za-z]", "root/[.]pyenv", "work/[a-z.]", "opt/" + "wheels"])
    assert lines_matching(rf"(?<![\w.)}}\]<-])/({homes})") == []


def test_no_text_names_a_package_registry() -> None:
    hosts = [r"pypi\.or" + "g", r"pythonhosted\.or" + "g", r"download\.pytorch\.or" + "g", r"npmjs\.or" + "g"]
    options = ["extra-index-ur" + "l", "--index-ur" + "l"]
    assert lines_matching("|".join(hosts + options)) == []


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
    }
    assert {name: n for name, n in lengths.items() if n >= LONGEST_MODULE} == {}


def test_decisions_are_numbered_without_a_gap_and_have_three_parts() -> None:
    records = sorted(path for path in (ROOT / "docs/decisions").glob("*.md"))
    assert [path.name[:5] for path in records] == [f"{n:04}-" for n in range(1, len(records) + 1)]
    for path in records:
        headings = [line for line in path.read_text().splitlines() if line.startswith("#")]
        assert headings[0].startswith(f"# {path.name[:4]}: "), path.name
        assert headings[1:] == ["## Context", "## Decision", "## Consequences"], path.name


def test_every_decision_and_guide_is_listed() -> None:
    listed = (ROOT / "docs/README.md").read_text()
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/decisions").glob("*.md")]
    assert [page.name for page in pages if page.name != "README.md" and page.name not in listed] == []


def test_every_relative_link_of_the_documents_leads_somewhere() -> None:
    dead = []
    for path in project_files():
        if path.suffix != ".md":
            continue
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text()):
            if not (path.parent / target).exists():
                dead.append(f"{path.relative_to(ROOT)}: {target}")
    assert dead == []


def test_every_command_of_the_makefile_says_what_it_does() -> None:
    text = (ROOT / "Makefile").read_text()
    commands = set(re.findall(r"^\.PHONY: (\S+)$", text, re.MULTILINE))
    described = set(re.findall(r"^([a-z-]+):.*## \S", text, re.MULTILINE))
    assert commands == described
    assert commands >= {"help", "demo", "test", "check", "bench", "migrate", "clean", "test-gpu"}
