"""A whole job: from a problem file to a report, stopped, killed and resumed."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Tool

pytestmark = [pytest.mark.judge, pytest.mark.slow, pytest.mark.timeout(900)]
EXAMPLES = Path(__file__).parents[2] / "examples"
TEMPLATE = ("--proposer", "template")


def test_a_job_ends_with_a_report(tool: Tool, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    job = ("optimize", EXAMPLES / "softmax.py", *TEMPLATE, "--evaluations", 2, "--report", report, "--json")
    run = tool(*job)
    assert run.code in (0, 1), run.err
    result = run.json
    assert result["state"] == "finished"
    assert result["found"] is (run.code == 0)
    assert result["attempts"]["total"] == 2
    text = report.read_text()
    assert "softmax" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    again = tool("report", result["job"], "--report", tmp_path / "again.html", "--json")
    assert again.json["job"] == result["job"]
    assert (tmp_path / "again.html").exists()


def _attempts(data: Path) -> list[tuple[int, str]]:
    found = list(data.glob("*.db")) + list(data.glob("*.sqlite*"))
    for path in (p for p in found if not p.name.endswith(("-wal", "-shm"))):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            try:
                return connection.execute("select number, state from attempts order by number").fetchall()
            except sqlite3.OperationalError:
                return []
    return []


def test_a_killed_job_resumes_without_losing_or_repeating_anything(tool: Tool) -> None:
    job = ("optimize", EXAMPLES / "softmax.py", *TEMPLATE, "--evaluations", 3, "--json")
    process = tool.start(*job)
    deadline = time.monotonic() + 240
    while not any(state == "evaluated" for _, state in _attempts(tool.data)):
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    _, err = process.communicate()
    job_id = next(line.rsplit(" ", 1)[1] for line in err.splitlines() if "kernelwright resume" in line)
    run = tool("resume", job_id, "--json")
    assert run.code in (0, 1), run.err
    assert run.json["state"] == "finished"
    states = _attempts(tool.data)
    assert [number for number, _ in states] == [1, 2, 3]
    assert {state for _, state in states} == {"evaluated"}


def test_ctrl_c_keeps_the_job_and_says_how_to_go_on(tool: Tool) -> None:
    process = tool.start("optimize", EXAMPLES / "softmax.py", *TEMPLATE, "--evaluations", 30)
    deadline = time.monotonic() + 240
    while not any(state == "evaluated" for _, state in _attempts(tool.data)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode in (0, 1)
    assert "kernelwright resume" in err
