"""How long `kernelwright --help` takes, against an interpreter that does nothing.

Prints the medians in milliseconds and their ratio. Ends with 1 where help takes longer than 0.3 s.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 15
LONGEST_SECONDS = 0.3


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """Measure both in alternation, after one run of each to warm the file cache."""
    helping = [str(Path(sys.executable).with_name("kernelwright")), "--help"]
    nothing = [sys.executable, "-c", "pass"]
    pairs = [(seconds(helping), seconds(nothing)) for _ in range(RUNS + 1)][1:]
    help_time = statistics.median(pair[0] for pair in pairs)
    floor = statistics.median(pair[1] for pair in pairs)
    print(
        f"kernelwright --help {help_time * 1e3:.0f} ms, python {floor * 1e3:.0f} ms, ratio {help_time / floor:.1f}"
    )
    return int(help_time > LONGEST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
