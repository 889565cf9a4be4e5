"""`kernelwright optimize`, `resume` and `report`: from a problem's file to a report, over stops and failures."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.api import Proposal, View
from evaluator.evaluation import InfraError
from evaluator.problem.candidate import Candidate, Language
from services.joblock import job_lock


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C as a terminal's programs have it: what a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_something_found(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    code, result = shell.json("optimize", problem_file, "--report", tmp_path / "out" / "r.html")
    assert code == 0
    assert (result["state"], result["found"]) == ("finished", True)
    assert result["best"]["proposer"] == "template"
    assert result["best"]["speedup"]["value"] == 1.5
    assert result["best"]["parameters"] == {"block": 0}
    assert result["attempts"]["total"] == 3
    assert result["attempts"]["verdicts"] == {"accepted": 2, "incorrect": 1}
    assert "1.50× faster" in Path(result["report"]).read_text()


def test_progress_and_table_for_a_person(shell: Any, problem_file: Path) -> None:
    assert shell("optimize", problem_file) == 0
    assert "attempts: 2 accepted" in shell.err
    assert "against torch_compile" in shell.err
    assert " left" in shell.err
    assert "Best: attempt 1" in shell.out
    assert "off by 0.1" in shell.out


def test_nothing_better(shell: Any, problem_file: Path, proposer: Any) -> None:
    shell.offered = (proposer("template", ['accepted {"speedup": 0.9}']),)
    code, result = shell.json("optimize", problem_file)
    assert code == 1
    assert result["found"] is False
    assert result["best"]["speedup"]["value"] == 0.9


class Curious:
    """Offers the compiler's code, else a candidate of its own."""

    name = "curious"

    def propose(self, view: View) -> Iterator[Proposal]:
        """One proposal, asked for twice."""
        view.generated()
        code = view.generated() or Candidate(
            {"candidate.py": '# accepted {"speedup": 1.2}\n'}, Language.PYTHON
        )
        yield Proposal(code, self.name, "the compiler's code")


def test_the_compiler_is_asked_for_its_code_once(shell: Any, problem_file: Path) -> None:
    asked = []

    def generates() -> Candidate:
        asked.append(1)
        return Candidate({"candidate.py": '# accepted {"speedup": 1.7}\n'}, Language.PYTHON)

    shell.judge.generates = generates
    shell.offered = (Curious(),)
    _, result = shell.json("optimize", problem_file)
    assert result["best"]["speedup"]["value"] == 1.7
    assert asked == [1]


def test_a_machine_without_a_compiler_goes_on_without_its_code(shell: Any, problem_file: Path) -> None:
    def generates() -> Candidate:
        raise InfraError("g++ is not installed")

    shell.judge.generates = generates
    shell.offered = (Curious(),)
    _, result = shell.json("optimize", problem_file)
    assert result["best"]["speedup"]["value"] == 1.2
    assert "the compiler gave no code, the machine failed: g++" in shell.err


def test_what_is_not_confirmed_is_no_find(shell: Any, problem_file: Path, proposer: Any) -> None:
    shell.offered = (proposer("template", ['accepted {"speedup": 1.3, "confirm": 1.01}']),)
    code, result = shell.json("optimize", problem_file)
    assert code == 1
    assert result["found"] is False
    best = result["best"]
    assert (best["searched"]["value"], best["speedup"]["value"]) == (1.3, 1.01)
    assert best["confirmation"]["held"] is False
    assert best["promotable"] is False
    assert "looked faster, but that was not confirmed" in shell.err
    assert "not held: 1.010×" in shell.err


def test_the_next_best_is_confirmed_where_the_best_was_luck(
    shell: Any, problem_file: Path, proposer: Any
) -> None:
    lines = ['accepted {"speedup": 1.2}', 'accepted {"speedup": 1.9, "confirm": 0.9}']
    shell.offered = (proposer("template", lines),)
    code, result = shell.json("optimize", problem_file)
    assert code == 0
    assert result["best"]["attempt"] == 1
    assert "and confirmed: attempt 1" in shell.err


def test_the_budget_is_kept(shell: Any, problem_file: Path) -> None:
    code, result = shell.json("optimize", problem_file, "--evaluations", "1")
    assert code == 0
    assert result["attempts"]["total"] == 1
    assert "budget of 1" in result["reason"]


def test_only_the_proposers_named(shell: Any, problem_file: Path) -> None:
    _, result = shell.json("optimize", problem_file, "--proposer", "compiler")
    assert result["attempts"]["total"] == 1
    assert result["best"]["proposer"] == "compiler"
    code, result = shell.json("optimize", problem_file, "--proposer", "oracle")
    assert code == 2
    assert "template, compiler" in result["error"]["message"]


def test_an_invalid_problem_makes_no_job(shell: Any, problem_file: Path) -> None:
    shell.judge.valid = False
    code, result = shell.json("optimize", problem_file)
    assert code == 2
    assert result["error"]["kind"] == "invalid_problem"
    assert "NaN" in result["error"]["message"]


def test_a_machine_that_keeps_failing_is_our_fault(shell: Any, problem_file: Path, proposer: Any) -> None:
    shell.offered = (proposer("template", [f'infra {{"n": {i}}}' for i in range(5)]),)
    code, result = shell.json("optimize", problem_file)
    assert code == 3
    assert result["state"] == "failed"
    assert result["attempts"]["states"] == {"abandoned": 3}
    assert "the disk is full" in Path(result["report"]).read_text()


def test_a_problem_that_turns_out_invalid_is_wrong_use(shell: Any, problem_file: Path, proposer: Any) -> None:
    shell.offered = (proposer("template", ["invalid"]),)
    code, result = shell.json("optimize", problem_file)
    assert code == 2
    assert (result["state"], result["reason"]) == ("failed", "the reference is not reproducible")


def test_ctrl_c_stops_and_resume_goes_on(shell: Any, problem_file: Path) -> None:
    judged = []

    def interrupt(candidate: Any) -> None:
        judged.append(candidate.digest)
        if len(judged) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    shell.judge.before = interrupt
    code, stopped = shell.json("optimize", problem_file)
    assert code == 1, "the best so far is not confirmed"
    assert stopped["state"] == "stopped"
    assert "looked faster, but is not confirmed" in shell.err
    assert stopped["attempts"]["states"] == {"evaluated": 1, "proposed": 1}
    assert f"kernelwright resume {stopped['job']}" in shell.err
    code, resumed = shell.json("resume", stopped["job"])
    assert code == 0
    assert resumed["job"] == stopped["job"]
    assert resumed["state"] == "finished"
    assert resumed["attempts"]["states"] == {"evaluated": 3}
    assert resumed["best"]["confirmation"]["held"] is True
    assert len(set(judged)) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_resume_can_raise_the_budget(shell: Any, problem_file: Path) -> None:
    _, first = shell.json("optimize", problem_file, "--evaluations", "1", "--proposer", "template")
    _, more = shell.json("resume", first["job"], "--evaluations", "5")
    assert more["attempts"]["total"] == 2, "the job keeps to the proposers it began with"


def test_a_job_another_process_works_on_is_left_alone(shell: Any, problem_file: Path) -> None:
    _, first = shell.json("optimize", problem_file)
    with job_lock(shell.data / "locks", first["job"]):
        code, result = shell.json("resume", first["job"])
    assert code == 2
    assert result["error"]["kind"] == "job_busy"


def test_report_is_written_again(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    _, first = shell.json("optimize", problem_file)
    code, again = shell.json("report", first["job"], "--report", tmp_path / "again.html")
    assert code == 0
    assert again["best"] == first["best"]
    assert (tmp_path / "again.html").read_text() == Path(first["report"]).read_text()


def test_a_report_that_cannot_be_written_is_wrong_use(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    code, result = shell.json("optimize", problem_file, "--report", tmp_path / "softmax.py" / "r.html")
    assert code == 2
    assert "--report" in result["error"]["message"]


def test_ctrl_c_before_there_is_a_job(shell: Any, problem_file: Path, tmp_path: Path) -> None:
    shell.judge.before = lambda candidate: os.kill(os.getpid(), signal.SIGINT)
    path = tmp_path / "fast.py"
    path.write_text('# accepted {"speedup": 2}\n')
    code, result = shell.json("evaluate", problem_file, path)
    assert code == 130
    assert result["error"]["kind"] == "interrupted"
