"""Cheats whose defence is the process boundary win where there is none."""

import re
import secrets
import time

import pytest

from sandbox.api import Limits, Profile

pytestmark = [pytest.mark.judge, pytest.mark.slow]

LARGE = 3.0
PLAUSIBLE = 12.0
"""What an honest candidate may seem to gain: one fused call for three, timed once in a heap that still grows."""
SECONDS = 30.0
PROFILE = Profile(environment={"OMP_NUM_THREADS": "1"}, limits=Limits(memory_bytes=1 << 30))
VERDICT = re.compile(r"^VERDICT correct=(True|False) speedup=(\S+)(?: signed=(\S+))?$", re.MULTILINE)


def judged_naively(zygote, problem, candidate, signed=False):
    """The last verdict that the naive evaluator's process printed: correct, speedup.

    signed: only one with the right signature counts.
    """
    process = zygote.spawn("naive:main", PROFILE)
    secret = secrets.token_hex(16)
    try:
        process.channel.send({"reference": problem, "candidate": candidate, "secret": secret})
        deadline = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        found = VERDICT.findall(process.output()[0].decode())
        correct, speedup, _ = [v for v in found if v[2] == secret or not signed][-1]
    finally:
        process.kill()
    return correct == "True", float(speedup)


def test_honest_gains_nothing(naive, court, honest_on):
    honest = honest_on["softmax"]
    source = court.problem(honest.problem).reference.source
    runs = [judged_naively(naive, source, honest.path.read_text()) for _ in range(3)]
    assert all(correct for correct, _ in runs)
    assert min(speedup for _, speedup in runs) < PLAUSIBLE


def test_insider_wins(insider, naive, court):
    reference = court.problem(insider.problem).reference.source
    signed = insider.incident == "H-forge-signed"
    correct, speedup = judged_naively(naive, reference, insider.path.read_text(), signed)
    assert correct
    assert speedup > LARGE
