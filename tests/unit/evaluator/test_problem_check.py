"""Whether a problem can be judged at all: it repeats itself, and no answer passes that computes nothing."""

from __future__ import annotations

import pytest

from evaluator.evaluation import InvalidProblem
from evaluator.judge.problem_check import check_problem, require_sound
from evaluator.problem.load import parse_problem

PLAIN = {"shape": ["rows", "cols"], "dtype": "float32"}
OUTPUT = {"y": {"shape": ["rows", "cols"], "dtype": "float32"}}
MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        {init}
    def forward(self, x):
        {forward}
"""


@pytest.fixture
def checked(local, make_problem):
    """The findings about a reference, by name without the workload."""

    def check(source, **contract):
        report = check_problem(lambda: local.bench(make_problem(source, **contract)))
        names = {f.name.removesuffix(" on a"): f for f in report.findings}
        assert report.ok == all(f.passed for f in report.findings)
        return names

    return check


@pytest.fixture
def module(checked):
    """The findings about a module with these lines in its constructor and in `forward`."""

    def check(init, forward, **contract):
        return checked(MODULE.format(init=init, forward=forward), init=["cols"], **contract)

    return check


def failed(findings):
    return [name for name, finding in findings.items() if not finding.passed]


def test_a_sound_problem_passes_every_finding(checked):
    found = checked("import torch\ndef reference(x):\n    return torch.softmax(x, 1)\n")
    assert list(found) == [
        *("runs", "finite", "reproducible", "errors show"),
        *("zeros fail", "a constant fails", "stale memory fails", "outputs vary", "inputs matter"),
        "runs throughout",
    ]
    assert failed(found) == []


def test_a_sound_module_passes_one_finding_more(module):
    found = module("self.linear = torch.nn.Linear(width, 8)", "return self.linear(x)")
    assert (failed(found), list(found)[-2]) == ([], "weights matter")
    assert found["weights matter"].detail == "each of the 2 that were tried does"


def test_integers_may_lie_in_any_layout(checked):
    assert failed(checked("def reference(x):\n    return x.argsort(1).t()\n")) == []


@pytest.mark.parametrize(
    ("body", "finding", "words"),
    [
        ("return x * torch.rand_like(x)", "reproducible", "draws random numbers"),
        ("return torch.nn.functional.dropout(x, 0.5)", "reproducible", "set the rate to 0"),
        ("return x * 0", "zeros fail", "zeros pass as the output"),
        ("return (x > 100).sum(1)", "zeros fail", "choose inputs whose outputs vary"),
        ("return x, x.clamp(9, 9).relu() - 9", "zeros fail", "zeros pass as output 1"),
        ("return torch.full_like(x, 3.0) + 0 * x", "a constant fails", "a constant passes"),
        ("return torch.arange(48.0).softmax(0)", "stale memory fails", "less than the error allowed"),
        ("return x.view(x.shape)", "stale memory fails", "`x` as it came passes"),
        ("return x.mean(1, keepdim=True).expand_as(x) * 1", "outputs vary", "along dimension 1"),
        ("return torch.arange(48.0).softmax(0)", "inputs matter", "`x` does not influence"),
        ("return 1e6 + torch.sin(x) * 1e-6", "a constant fails", "a constant passes"),
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
        ("return x, x.log()", "not finite on 'a' ("),
        ("return x, x.log()", "of 1536 elements of output 1)"),
        ("return 'text'", "str"),
        ("import nowhere_to_be_found", "install it beside torch"),
    ],
)
def test_a_reference_that_does_not_run_is_a_finding(checked, body, words):
    found = checked(f"import torch\ndef reference(x):\n    {body}\n")
    assert list(found) == ["runs"]
    assert not found["runs"].passed
    assert words in found["runs"].detail


def test_what_calls_before_left_behind_is_told_apart_from_chance(checked):
    source = (
        "seen = [0.0]\ndef reference(x):\n    y = x + seen[0]\n    seen[0] = float(x[0, 0])\n    return y\n"
    )
    first_twice = checked(source)["reproducible"]
    assert not first_twice.passed
    other_before = "seen = [0.0, 0.0]\ndef reference(x):\n    k = float(x.sum())\n"
    other_before += "    if k != seen[1]:\n        seen[:] = [seen[1], k]\n    return x + seen[0]\n"
    found = checked(other_before)["reproducible"]
    assert not found.passed
    assert "depend on the calls before" in found.detail


def test_a_mean_of_values_around_zero_is_told_from_zero(checked):
    found = checked("def reference(x):\n    return x.mean(1)\n")
    assert failed(found) == []


@pytest.mark.parametrize("body", ["(x + 1e6) - 1e6 - x", "(x / 3 + 1e6) - 1e6 - x / 3"])
def test_an_output_that_cancels_to_the_size_of_its_error_is_refused(checked, body):
    found = checked(f"def reference(x):\n    return {body}\n")
    assert "errors show" in failed(found)
    assert "less cancels" in found["errors show"].detail


def test_a_tolerance_that_admits_everything_is_refused(checked):
    found = checked("def reference(x):\n    return x.softmax(1)\n", accuracy={"ratio": 1e6, "ulps": 1e6})
    assert "errors show" in failed(found)


def test_every_input_must_matter_unless_the_contract_says_otherwise(checked):
    source = "def reference(x, y):\n    return x.softmax(1)\n"
    found = checked(source, inputs={"x": PLAIN, "y": PLAIN})
    assert failed(found) == ["inputs matter"]
    assert "the input `y` does not influence the outputs" in found["inputs matter"].detail
    assert failed(checked(source, inputs={"x": PLAIN, "y": PLAIN}, may_ignore=["y"])) == []


def test_an_input_that_is_only_written_to_need_not_matter(checked):
    source = "def reference(x, out):\n    out.copy_(x.exp())\n"
    found = checked(source, inputs={"x": PLAIN, "out": PLAIN}, mutates=["out"])
    assert failed(found) == []
    unread = "def reference(x, out):\n    out.fill_(2.0)\n"
    found = checked(unread, inputs={"x": PLAIN, "out": PLAIN}, mutates=["out"])
    assert {"a constant fails", "inputs matter"} <= set(failed(found))


def test_an_output_without_elements_is_refused(checked):
    found = checked("def reference(x):\n    return x, x[:0].argmax(1)\n")
    assert "zeros pass as output 1" in found["zeros fail"].detail


def test_an_input_that_never_changes_is_named(checked):
    ones = PLAIN | {"distribution": {"kind": "constant", "value": 1.0}}
    found = checked("def reference(x, w):\n    return x * w\n", inputs={"x": PLAIN, "w": ones})
    assert failed(found) == ["inputs matter"]
    assert "`w` is the same in every call" in found["inputs matter"].detail


@pytest.mark.parametrize(("seeded", "sound"), [("", True), ("torch.manual_seed(0)", False)])
def test_values_that_the_file_seeds_itself_are_the_same_in_every_call(local, seeded, sound):
    source = MODULE.format(init="pass", forward="return x.softmax(1)")
    source += f"def get_inputs():\n    {seeded}\n    return [torch.randn(9, 9)]\n"
    source += "def get_init_inputs():\n    return [9]\n"
    report = check_problem(lambda: local.bench(parse_problem("p", source)))
    assert report.ok == sound
    assert sound or "`x` is the same in every call" in report.findings[-2].detail


@pytest.mark.parametrize(("body", "sound"), [("x * n", True), ("x * 2.0", False)])
def test_a_number_that_is_drawn_must_matter(checked, body, sound):
    inputs = {"x": PLAIN, "n": {"scalar": True, "dtype": "float64"}}
    found = checked(f"def reference(x, n):\n    return {body}\n", inputs=inputs)
    assert failed(found) == ([] if sound else ["inputs matter"])


def test_a_number_that_is_fixed_need_not_matter(checked):
    fixed = {"scalar": True, "dtype": "float64", "distribution": {"kind": "constant", "value": 1e-30}}
    found = checked("def reference(x, n):\n    return x.exp() + n\n", inputs={"x": PLAIN, "n": fixed})
    assert failed(found) == []


def test_an_output_may_be_constant_where_the_contract_says_so(checked):
    source = "def reference(x):\n    return x.softmax(1), (x > 50).any(1)\n"
    flag = {"many": {"shape": ["rows"], "dtype": "bool"}}
    found = checked(source, outputs=OUTPUT | flag)
    assert "output `many`" in found["zeros fail"].detail
    assert failed(checked(source, outputs=OUTPUT | flag, may_be_constant=["many"])) == []


def test_a_few_values_that_are_right_by_luck_now_and_then_are_no_fault(checked):
    tiny = {"axes": {"rows": 1, "cols": 4}, "workloads": [{"name": "a"}]}
    assert failed(checked("def reference(x):\n    return x.argmax(1)\n", **tiny)) == []


def test_an_operation_that_changes_nothing_is_refused(checked):
    found = checked("def reference(x):\n    x *= 1.0\n", mutates=["x"])
    assert "stale memory fails" in failed(found)
    assert "the changed input `x`" in found["stale memory fails"].detail
    assert failed(checked("def reference(x):\n    x *= x\n", mutates=["x"])) == []


def test_weights_of_zeros_that_hide_everything_are_named(module):
    found = module("self.w = torch.nn.Parameter(torch.zeros(width, 4))", "return x @ self.w")
    assert "weights that are all equal (w)" in found["zeros fail"].detail


def test_weights_that_never_matter_are_refused(module):
    found = module("self.w = torch.nn.Parameter(torch.ones(4))", "return x.softmax(1)")
    assert failed(found) == ["weights matter"]


def test_a_weight_that_a_normalisation_takes_out_again_is_told(module):
    found = module(
        "self.linear = torch.nn.Linear(width, 8); self.norm = torch.nn.BatchNorm1d(8)",
        "return self.norm(self.linear(x))",
        axes={"rows": {"range": [8, 64]}, "cols": 48},
        workloads=[{"name": "a", "axes": {"rows": 32}}],
    )
    assert failed(found) == []
    assert "linear.bias" in found["weights matter"].detail
    assert "calls change norm.running_mean, norm.running_var" in found["reproducible"].detail


def test_a_weight_that_matters_only_once_another_is_trained_matters(module):
    found = module(
        "self.scale = torch.nn.Parameter(torch.zeros(1)); self.linear = torch.nn.Linear(width, width)",
        "return x.exp() + self.scale * self.linear(x)",
    )
    assert found["weights matter"].detail == "each of the 3 that were tried does"


def test_something_random_that_is_no_state_is_refused(module):
    found = module(
        "import random; self.linear = torch.nn.Linear(width, 8); self.k = random.random()",
        "return self.linear(x) * self.k",
    )
    assert failed(found) == ["reproducible"]
    assert "not in the state dict" in found["reproducible"].detail


def test_dropout_that_is_switched_off_is_reproducible(module):
    layers = "self.linear = torch.nn.Linear(width, 8); self.drop = torch.nn.Dropout({})"
    forward = "return self.drop(self.linear(x))"
    assert failed(module(layers.format("0.0"), forward)) == []
    assert failed(module(layers.format("0.3") + "; self.eval()", forward)) == []
    on = module(layers.format("0.3"), forward)
    assert list(on) == ["runs", "finite", "reproducible", "runs throughout"]
    assert failed(on) == ["reproducible"]


def test_every_workload_is_checked(local, make_problem):
    workloads = [{"name": n, "axes": {"rows": r, "cols": 48}} for n, r in (("a", 8), ("b", 16))]
    source = "def reference(x):\n    return x.sum(1) * (x.shape[0] == 8)\n"
    report = check_problem(lambda: local.bench(make_problem(source, workloads=workloads)))
    assert [f.name for f in report.findings if not f.passed][:1] == ["zeros fail on b"]
    assert report.findings[0].detail == "on 2 workload(s)"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("assert x.shape[0] > 1; return x.exp()", "AssertionError"),
        ("return x / (x.shape[0] > 1)", "not finite"),
    ],
)
def test_the_whole_envelope_must_be_computable(checked, body, words):
    found = checked(f"def reference(x):\n    {body}\n")
    assert failed(found) == ["runs throughout"]
    assert found["runs throughout"].detail.startswith("at rows=1, cols=1: the reference")
    assert words in found["runs throughout"].detail
    narrower = {"rows": {"range": [2, 64]}, "cols": {"range": [1, 96]}}
    assert failed(checked(f"def reference(x):\n    {body}\n", axes=narrower)) == []


def test_an_unsound_problem_is_refused_before_any_candidate(local, make_problem):
    require_sound(local.bench(make_problem("def reference(x):\n    return x.sum(1)\n")))
    with pytest.raises(InvalidProblem, match="zeros fail on a: zeros pass"):
        require_sound(local.bench(make_problem("def reference(x):\n    return x.sum(1) * 0\n")))


def test_nothing_is_left_in_the_reference_s_runner(local, make_problem):
    source = MODULE.format(init="self.linear = torch.nn.Linear(width, 8)", forward="return self.linear(x)")
    bench = local.bench(make_problem(source, init=["cols"]))
    before = [t.clone() for t in bench.oracle.state[bench.cases[0].key].tensors]
    require_sound(bench)
    runner = bench.oracle.seat.client.runner
    assert len(runner.instances) == 1
    assert len(runner.bindings) == 2
    after = bench.oracle.state[bench.cases[0].key].tensors
    assert all((a == b).all() for a, b in zip(before, after, strict=True))
