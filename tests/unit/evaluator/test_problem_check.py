"""Whether a problem can be judged at all: it runs, repeats itself, and no answer passes that computes nothing."""

from __future__ import annotations

import pytest

from evaluator.evaluation import InvalidProblem
from evaluator.judge.problem_check import check_problem, require_sound


@pytest.fixture
def checked(local, make_problem):
    """The findings about a reference, by name without the workload."""

    def check(source, **contract):
        report = check_problem(lambda: local.bench(make_problem(source, **contract)))
        names = {f.name.removesuffix(" on a"): f for f in report.findings}
        assert report.ok == all(f.passed for f in report.findings)
        return names

    return check


def test_a_sound_problem_passes_every_finding(checked):
    found = checked("import torch\ndef reference(x):\n    return torch.softmax(x, 1)\n")
    assert list(found) == [
        "runs",
        "finite",
        "reproducible",
        "zeros fail",
        "a constant fails",
        "inputs matter",
    ]
    assert all(f.passed for f in found.values())


def test_integers_may_lie_in_any_layout(checked):
    found = checked("def reference(x):\n    return x.argsort(1).t()\n")
    assert all(f.passed for f in found.values())


@pytest.mark.parametrize(
    ("body", "finding", "words"),
    [
        ("return x * torch.rand_like(x)", "reproducible", "dropout"),
        ("return x * 0", "zeros fail", "zeros pass"),
        ("return (x > 100).sum(1)", "zeros fail", "zeros pass"),
        ("return torch.full_like(x, 3.0) + 0 * x", "a constant fails", "a constant passes"),
        ("return torch.arange(48.0).softmax(0)", "inputs matter", "do not depend on the inputs"),
    ],
)
def test_what_makes_an_evaluation_worthless_is_found(checked, body, finding, words):
    found = checked(f"import torch\ndef reference(x):\n    {body}\n")
    assert not found[finding].passed
    assert words in found[finding].detail


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('so it is')", "so it is"),
        ("return x.log()", "not finite"),
        ("return 'text'", "str"),
    ],
)
def test_a_reference_that_does_not_run_is_a_finding(checked, body, words):
    found = checked(f"import torch\ndef reference(x):\n    {body}\n")
    assert list(found) == ["runs"]
    assert not found["runs"].passed
    assert words in found["runs"].detail


def test_every_workload_is_checked(local, make_problem):
    workloads = [{"name": n, "axes": {"rows": r, "cols": 48}} for n, r in (("a", 8), ("b", 16))]
    source = "def reference(x):\n    return x.sum(1) * (x.shape[0] == 8)\n"
    report = check_problem(lambda: local.bench(make_problem(source, workloads=workloads)))
    assert [f.name for f in report.findings if not f.passed][:1] == ["zeros fail on b"]
    assert report.findings[0].detail == "on 2 workload(s)"


def test_an_unsound_problem_is_refused_before_any_candidate(local, make_problem):
    require_sound(local.bench(make_problem("def reference(x):\n    return x.sum(1)\n")))
    with pytest.raises(InvalidProblem, match="zeros fail on a: zeros pass"):
        require_sound(local.bench(make_problem("def reference(x):\n    return x.sum(1) * 0\n")))
