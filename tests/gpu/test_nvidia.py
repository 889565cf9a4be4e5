"""NVML on a real card."""

import pytest
import torch

from evaluator.device.nvidia import Monitor, NoGpu


def test_its_facts_are_those_that_cuda_gives():
    torch.zeros(1, device="cuda")
    properties = torch.cuda.get_device_properties(0)
    with Monitor() as monitor:
        gpu = monitor.gpu()
    assert gpu.name == properties.name
    assert gpu.compute_capability == (properties.major, properties.minor)
    assert gpu.memory_bytes >= properties.total_memory
    assert gpu.uuid == f"GPU-{properties.uuid}"
    assert gpu.refusals == ()


def test_a_reading_has_clocks_and_memory_in_use():
    held = torch.zeros(1 << 28, dtype=torch.uint8, device="cuda")
    with Monitor() as monitor:
        reading = monitor.read()
    assert reading.sm_mhz > 100
    assert reading.used_bytes > held.numel()


def test_a_card_that_is_not_there_is_named():
    with pytest.raises(NoGpu, match="99"):
        Monitor(99)
