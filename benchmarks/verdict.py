"""How long a warm verdict of a small C++ candidate on one workload takes, and what it is spent on.

Judges `examples/candidates/softmax.cpp` on the first workload of `examples/softmax.py` under the `search`
policy: once to warm the build cache, the baselines and the runners, then `RUNS` times. Prints seconds.
Ends with 1 where the median is above 5 s or a verdict is not `accepted`.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from evaluator.evaluation import Evaluation, Verdict
from evaluator.problem.contract import Problem
from evaluator.problem.load import load_candidate, load_problem
from services.bootstrap import open_workshop
from services.settings import read_settings

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = 5
LONGEST_SECONDS = 5.0


def one_workload() -> Problem:
    """The softmax example, cut to its first workload."""
    problem = load_problem(EXAMPLES / "softmax.py")
    return replace(problem, contract=replace(problem.contract, workloads=problem.contract.workloads[:1]))


def verdicts(data: Path) -> list[tuple[float, Evaluation]]:
    """Seconds and evaluation of each run, the warming one first."""
    problem, candidate = one_workload(), load_candidate(EXAMPLES / "candidates" / "softmax.cpp")
    workshop = open_workshop(read_settings(os.environ, data, "cpu"))
    runs = []
    try:
        with workshop.evaluator(lambda line: None) as evaluator:
            for _ in range(RUNS + 1):
                start = time.perf_counter()
                evaluation = evaluator.evaluate(problem, candidate, "search")
                runs.append((time.perf_counter() - start, evaluation))
    finally:
        workshop.close()
    return runs


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as data:
        (cold, _), *warm = verdicts(Path(data))
    median = statistics.median(seconds for seconds, _ in warm)
    print(f"verdict: first {cold:.1f} s, then a median of {median:.2f} s, {60 / median:.0f} a minute")
    for stage, seconds in warm[-1][1].stages.items():
        print(f"  {stage:20} {seconds:6.2f} s")
    rejected = [str(e.verdict) + ": " + e.reason for _, e in warm if e.verdict is not Verdict.ACCEPTED]
    for line in rejected:
        print(f"  not accepted: {line}")
    return int(bool(rejected) or median > LONGEST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
