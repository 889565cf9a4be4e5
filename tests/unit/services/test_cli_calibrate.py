"""`kernelwright calibrate` and `kernelwright bench evaluator`: what they show and hand to machines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from evaluator.evaluation import InfraError


def test_a_person_sees_every_figure_with_its_unit(shell: Any) -> None:
    assert shell("calibrate") == 0
    for words in ("21.0 us", "14.0 us", "150 us", "3.0%", "8 MiB in use", "12.0 GB/s", "96 GFLOP/s"):
        assert words in shell.out


def test_a_machine_gets_the_calibration(shell: Any) -> None:
    code, result = shell.json("calibrate")
    assert code == 0
    assert result["calibration"] == {"resolution": 150e-6, "ceilings": True}


def test_doctor_says_how_to_calibrate_until_that_was_done(shell: Any, tmp_path: Path) -> None:
    _, before = shell.json("doctor")
    assert before["guarantees"]["calibrated"]["remedy"] == "run kernelwright calibrate once"
    folder = tmp_path / "data" / "calibrations"
    folder.mkdir(parents=True)
    (folder / "key.json").write_text("{}")
    _, after = shell.json("doctor")
    assert after["guarantees"]["calibrated"]["holds"]


def test_doctor_says_whether_timed_calls_come_before_other_work(shell: Any) -> None:
    before = os.sched_getscheduler(0)
    found = shell.json("doctor")[1]["guarantees"]["real_time"]
    assert os.sched_getscheduler(0) == before
    assert found["holds"] == (found["remedy"] == "")


def test_bench_refuses_to_praise_an_evaluator_that_refuses_an_honest_candidate(shell: Any) -> None:
    code, result = shell.json("bench", "evaluator")
    assert code == 1
    assert result["equal"] is None
    assert result["verdicts_per_hour"] > 0


def test_bench_measures_every_gate_and_the_reference_against_itself(shell: Any) -> None:
    shell.judge.unsaid = 'accepted {"speedup": 1.01}'
    code, result = shell.json("bench", "evaluator")
    assert code == 0
    assert result["equal"]["value"] == 1.01
    assert set(result["seconds_by_gate"]) == {"build", "time"}
    assert len(result["seconds"]["warm"]) == 5


def test_a_machine_that_fails_is_our_fault(shell: Any) -> None:
    def broken(candidate: object) -> None:
        raise InfraError("no memory")

    shell.judge.before = broken
    assert shell("bench", "evaluator") == 3
    assert "no memory" in shell.err
