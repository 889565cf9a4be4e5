"""What the tripwire tells of, and what it lets be."""

from __future__ import annotations

import subprocess
import sys

PATCH = """
import time
from evaluator.harness.tripwire import Tripwire
tripwire = Tripwire()
time.perf_counter = lambda: 0.0
print(tripwire.changed())
"""

COMPILE = """
import torch
from evaluator.harness.tripwire import Tripwire
tripwire = Tripwire()
torch.compile(torch.relu, backend="eager")(torch.ones(2))
print(tripwire.changed())
"""


def told(program: str) -> str:
    """What a process of its own prints, since the program tampers with it."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def test_a_patched_clock_is_told() -> None:
    assert told(PATCH) == "('time.perf_counter',)"


def test_what_torch_compile_changes_by_itself_is_let_be() -> None:
    assert told(COMPILE) == "()"
