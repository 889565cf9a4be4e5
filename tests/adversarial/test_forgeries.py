"""What a candidate says of itself is hostile: descriptions of outputs, texts of exceptions."""

import pytest

from evaluator.problem.candidate import Candidate, Language

pytestmark = [pytest.mark.judge, pytest.mark.slow]

DESCRIBES = """
import dataclasses
import torch
from evaluator.harness import runner

located = runner.located
runner.located = lambda tensor: dataclasses.replace(located(tensor), {change})


def run(x):
    return torch.logsumexp(x, dim=-1, keepdim=True)
"""

REPEATS = """
import torch


def run(x):
    return (torch.logsumexp(x, dim=-1, keepdim=True),) * {times}
"""

RAISES = """
class {kind}(BaseException):
    pass


def run(x):
    raise {kind}({text})
"""


DESCRIBES_NOTHING = """
from evaluator.harness import runner

runner.Runner._described = lambda self, outputs: {text!r}


def run(x):
    return x
"""

RETURNS = """
import torch


def run(x):
    return {value}
"""


def python(source):
    return Candidate({"candidate.py": source}, Language.PYTHON)


@pytest.mark.parametrize(
    ("change", "verdicts"),
    [
        ("shape=(-1, 1)", {"incorrect", "integrity"}),
        ("shape=(1 << 60, 1 << 60)", {"incorrect", "integrity"}),
        ("shape=()", {"incorrect", "integrity"}),
        ("strides=(-1, 1)", {"incorrect", "integrity"}),
        ("strides=(1 << 60, 1)", {"incorrect", "integrity"}),
        ("strides=(1,)", {"incorrect", "integrity"}),
        ("strides=(1, (1 << 64) - 1)", {"accepted", "integrity"}),
        ("strides=(1, -(1 << 63))", {"accepted", "integrity"}),
        ("address=0", {"integrity"}),
        ("address=-1", {"integrity"}),
        ("address=(1 << 64) - 8", {"integrity"}),
        ("address=1 << 200", {"integrity"}),
        ("address=0.5", {"integrity"}),
        ("dtype='float9'", {"incorrect", "integrity"}),
        ("dtype='x' * 100000", {"integrity", "runtime_error"}),
        ("exact='yes'", {"integrity"}),
    ],
)
def test_absurd_description_of_an_output(change, verdicts, court):
    evaluation = court.evaluate_source(python(DESCRIBES.format(change=change)), "log_sum")
    assert evaluation.verdict in verdicts, evaluation.reason


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"null", b"[]", b"\xff\xfe", b"{" * 60_000, b"[" * 60_000, b"9" * 60_000, b"1e999"),
        b'{"t": "Failed"}',
        b'{"t": "Outcome", "outputs": 3}',
        b'{"t": "Outcome", "outputs": [{"t": "Outcome", "outputs": []}]}',
        b'{"t": "Done", "tampered": [], "style": "functional"}',
        bytes(100_000),
    ],
    ids=lambda text: f"{len(text)}:{text[:24]!r}",
)
def test_what_is_no_description_of_outputs(text, court):
    evaluation = court.evaluate_source(python(DESCRIBES_NOTHING.format(text=text)), "log_sum")
    assert evaluation.verdict in {"integrity", "runtime_error", "timeout"}, evaluation.reason


@pytest.mark.parametrize(
    "value",
    [
        *(
            "None",
            "'text'",
            "[]",
            "{}",
            "[[[]]]",
            "x.numpy()",
            "x[0].tolist()",
            "(t for t in [x])",
            "object",
            "run",
        ),
        *("x.to_sparse()", "x.to('meta')", "x.to(torch.complex64)", "torch.nn.Parameter(x)", "x[:, :0]"),
        *(
            "torch._neg_view(torch.logsumexp(x, dim=-1, keepdim=True))",
            "torch.float32",
            "float('nan')",
            "1 << 70",
        ),
    ],
)
def test_what_is_no_output(value, court):
    evaluation = court.evaluate_source(python(RETURNS.format(value=value)), "log_sum")
    assert evaluation.verdict in {"incorrect", "integrity", "runtime_error"}, evaluation.reason


@pytest.mark.parametrize("times", [0, 2, 300, 100_000])
def test_wrong_number_of_outputs(times, court):
    evaluation = court.evaluate_source(python(REPEATS.format(times=times)), "log_sum")
    assert evaluation.verdict in {"incorrect", "integrity", "runtime_error"}, evaluation.reason


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("RuntimeError", "'bad block size: waiting for the lock'"),
        ("InfraError", "'infra_error: No such file or directory'"),
        ("CudaError", "'CUDA error: an illegal memory access was encountered'"),
        ("KeyboardInterrupt", "''"),
        ("ProcessGone", "'verdict: accepted, speedup 381'"),
        ("Long", "'x' * (1 << 22)"),
        ("Nul", r"'\0 \x1b[2J \ud800'"),
        ("X" * 5000, "''"),
    ],
)
def test_misleading_exception(kind, text, court):
    evaluation = court.evaluate_source(python(RAISES.format(kind=kind, text=text)), "log_sum")
    assert evaluation.verdict == "runtime_error", evaluation.reason
    assert len(evaluation.reason) < 1000
    assert all(c == "\n" or c.isprintable() for c in evaluation.reason)
    evaluation.reason.encode()


def test_honest_candidate_afterwards(court, honest_on):
    assert court.evaluate(honest_on["log_sum"], "screen").verdict == "accepted"
