"""Many evaluations in a row by one judge, hostile and honest mixed at random: `python -m tests.adversarial.soak`.

After each, the verdict must be one that the candidate deserves. At the end the host must hold what it held once the
judge was warm: as many processes, mounts, control groups, files and descriptors. Memory is printed as it grows; more
than `MOST_GROWTH` fails. Ends with 1 where anything did. Takes about a second an evaluation on two quiet cores.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sandbox.local import LocalSandbox
from tests.adversarial.conftest import POLICIES, Court, Planted, planted

WARM = 0.2
"""The share of evaluations after which nothing may grow any more: by then most candidates were seen once."""
EVERY = 25
MOST_GROWTH = 64 << 20
SLOW = ("builds_at_import",)


@dataclass(frozen=True)
class Held:
    """What this process and its descendants hold on the host, besides memory in bytes."""

    processes: int
    mounts: int
    cgroups: int
    files: int
    descriptors: int
    memory: int

    def grown(self, before: Held) -> list[str]:
        """What there is more of than before, in words."""
        counts = ("processes", "mounts", "cgroups", "files", "descriptors")
        more = [(n, getattr(before, n), getattr(self, n)) for n in counts]
        found = [f"{n} from {a} to {b}" for n, a, b in more if b > a]
        if self.memory - before.memory > MOST_GROWTH:
            found.append(f"memory by {(self.memory - before.memory) >> 20} MiB")
        return found


def held(folder: Path) -> Held:
    """What is held now. Runners that a judge keeps for later are among the processes."""
    family = _family()
    return Held(
        processes=len(family),
        mounts=len(Path("/proc/self/mountinfo").read_text().splitlines()),
        cgroups=sum(1 for _ in Path("/sys/fs/cgroup").rglob("kernelwright*")),
        files=sum(len(files) for _, _, files in os.walk(tempfile.gettempdir()))
        - sum(len(files) for _, _, files in os.walk(folder)),
        descriptors=len(os.listdir("/proc/self/fd")),
        memory=_resident(os.getpid()),
    )


def _family() -> list[int]:
    """This process and all that descend from it."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(
                    Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
    family = [os.getpid()]
    for pid in family:
        family += [child for child, parent in parents.items() if parent == pid]
    return family


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(evaluations: int, seed: int) -> list[str]:
    """Judge so many candidates; what went wrong, in words."""
    chance = random.Random(seed)
    cast = [p for kind in ("cheats", "bugs", "controls") for p in planted(kind) if p.name not in SLOW]
    honest = [p for p in cast if p.verdicts == {"accepted"}]
    wrong: list[str] = []
    verdicts: Counter[str] = Counter()
    warm: Held | None = None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sandbox = LocalSandbox()
        court = Court(sandbox, folder)
        started = time.monotonic()
        try:
            for number in range(1, evaluations + 1):
                who = chance.choice(honest if chance.random() < 0.5 else cast)
                verdicts[_judge(court, who, wrong)] += 1
                if number % EVERY == 0:
                    now = held(folder)
                    print(f"{number} in {time.monotonic() - started:.0f} s: {now}", flush=True)
                    if warm is None and number >= WARM * evaluations:
                        warm = now
        finally:
            court.close()
            sandbox.close()
        after = held(folder)
    if warm is not None:
        wrong += [f"grew: {text}" for text in now.grown(warm)]
    if after.processes > 1:
        wrong.append(f"{after.processes - 1} processes were left at the end")
    print(f"verdicts: {dict(verdicts)}; afterwards: {after}")
    return wrong


def _judge(court: Court, who: Planted, wrong: list[str]) -> str:
    policy = POLICIES.search if who.defence in ("hidden", "numerics") else POLICIES.glance
    evaluation = court.evaluate(who, policy)
    if evaluation.verdict not in who.verdicts:
        wrong.append(
            f"{who.name}: {evaluation.verdict}, deserved {sorted(who.verdicts)}: {evaluation.reason}"
        )
        print(wrong[-1], flush=True)
    return str(evaluation.verdict)


def main() -> int:
    """Read the command line, soak, say what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    wrong = soak(arguments.evaluations, arguments.seed)
    print("\n".join(wrong) or "nothing went wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
