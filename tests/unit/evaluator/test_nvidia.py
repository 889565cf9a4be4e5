"""Readings of a GPU: what voids a sample, and what makes a card of no use."""

from dataclasses import replace

import pytest

from evaluator.device.nvidia import Gpu, Reading, counters_for_all, disturbance, mps_running

QUIET = Reading(1980, 3201, 310.0, 45, 1 << 30, frozenset(), frozenset({10, 11}))
GPU = Gpu(0, "NVIDIA H200", "GPU-0", "580.159", (9, 0), 141 << 30, True, False, "", True, False)


def test_a_quiet_sample_counts():
    assert disturbance(QUIET, replace(QUIET, sm_mhz=1965, watts=420.0), own={10, 11}) == ""


def test_a_sample_under_held_down_clocks_does_not_whenever_it_was_noticed():
    hot = replace(QUIET, slowed=frozenset({"power limit"}))
    for before, after in ((hot, QUIET), (QUIET, hot)):
        assert "power limit" in disturbance(before, after, own={10, 11})


def test_a_sample_beside_another_process_does_not():
    assert "11" in disturbance(QUIET, QUIET, own={10})


def test_a_card_that_all_may_use_is_of_use():
    assert GPU.refusals == ()


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"mps": True}, "nvidia-cuda-mps-control"),
        ({"mode": "exclusive to one process"}, "nvidia-smi -i 0 -c 0"),
    ],
)
def test_a_card_of_no_use_says_what_to_do(change, remedy):
    assert remedy in replace(GPU, **change).refusals[0]


def test_counters_are_for_all_only_where_the_driver_says_so(tmp_path):
    file = tmp_path / "params"
    assert not counters_for_all(file)
    file.write_text("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n")
    assert not counters_for_all(file)
    file.write_text("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n")
    assert counters_for_all(file)


def test_an_mps_server_is_found_by_its_pipe(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    assert not mps_running()
    (tmp_path / "control").touch()
    assert mps_running()
