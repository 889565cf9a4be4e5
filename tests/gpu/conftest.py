"""Tests on a real GPU. Skipped with a reason where there is none."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

import evaluator.harness
from evaluator.harness.cuda import plan, vmm
from evaluator.launcher.launcher import Launcher

GPUS = torch.cuda.is_available()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs a GPU."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.gpu)
            if not GPUS:
                item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU that torch can use"))


@pytest.fixture(scope="session")
def pool_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The allocator, built."""
    source = Path(evaluator.harness.__file__).parent / "cuda" / "pool.cpp"
    built = tmp_path_factory.mktemp("pool") / "pool.so"
    compiler = shutil.which("g++") or pytest.skip("no g++")
    subprocess.run(
        [compiler, "-std=c++17", "-O2", "-shared", "-fPIC", "-o", str(built), str(source), "-ldl"], check=True
    )
    return str(built)


class AtAddress:
    """Device memory as torch takes it: float32, row-major."""

    def __init__(self, address: int, shape: Sequence[int]) -> None:
        self.__cuda_array_interface__ = {
            "shape": tuple(shape),
            "typestr": "<f4",
            "data": (address, False),
            "version": 3,
        }


class Launching:
    """A launcher of this process, with memory laid as a captured call wants it."""

    Refused = plan.PlanError

    def __init__(self) -> None:
        self.launcher = Launcher(0)
        self.run = self.launcher.run

    def lay(
        self, answer: dict[str, object], shape: tuple[int, ...], result: Sequence[int]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Input and output of the call, at their addresses."""
        size = 4 * torch.Size(shape).numel()
        for address, bytes_ in [(vmm.BASE, size), *answer["segments"]]:  # type: ignore[misc]
            memory = vmm.DeviceMemory(0, bytes_)
            self.launcher.map(memory.export(), address, bytes_)
            memory.close()
        places = (AtAddress(vmm.BASE, shape), AtAddress(answer["output"], result))  # type: ignore[arg-type]
        return torch.as_tensor(places[0], device="cuda"), torch.as_tensor(places[1], device="cuda")

    def load(self, data: object, cubins: Sequence[bytes]) -> None:
        """Make a plan the one that runs."""
        self.launcher.load(plan.read(data), cubins)


@pytest.fixture
def launcher() -> Iterator[Launching]:
    """A launcher, its range given back at the end."""
    made = Launching()
    yield made
    made.launcher.close()
