"""A candidate through the gates: the right verdict from the right gate, and a record that lists every gate."""

from __future__ import annotations

import gc
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from evaluator.build.outcome import Build, Diagnostic
from evaluator.evaluation import Evaluation, Gate, GateState, Verdict
from evaluator.judge.defences import Defences
from evaluator.judge.pipeline import NOT_YET, Pipeline, missing
from evaluator.judge.policy import policy
from evaluator.problem.candidate import Candidate, Language

SOFTMAX = "import torch\ndef reference(x):\n    return torch.softmax(x, 1)\n"
LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
    def forward(self, x):
        return self.norm(x)
"""
IN_PLACE = "def reference(x, y):\n    x += y\n    return x.sum(1)\n"
BOTH = {
    "inputs": {n: {"shape": ["rows", "cols"], "dtype": "float32"} for n in ("x", "y")},
    "mutates": ["x"],
}


class OneBuild:
    """A builder with one answer for sources, and one for first imports."""

    def __init__(self, build: Build, imported: Build | None) -> None:
        self.answer = build
        self.first_import = imported

    def build(self, candidate: Candidate, timeout: float) -> Build:
        return self.answer

    def imported(self, candidate: Candidate, timeout: float) -> Build | None:
        return self.first_import


@pytest.fixture
def judged(local, make_problem):
    """Judges Python text (or a C++ candidate with a builder's answer) on the local machine."""

    def judge(
        text, source=SOFTMAX, policy_name="search", defences=None, build=None, imported=None, **contract
    ):
        language = Language.PYTHON if build is None else Language.CPP
        name = "candidate.py" if build is None else "candidate.cpp"
        bench = local.bench(make_problem(source, **contract), defences)
        pipeline = Pipeline(
            bench=bench,
            candidate=Candidate({name: text}, language),
            policy=policy(policy_name),
            builder=OneBuild(build, imported),
            start=lambda timeouts: local.seat("candidate", defences),
            seconds=lambda: {n: {c.name: 2e-3 for c in bench.cases} for n in bench.contract.baselines},
            defences=defences or Defences(),
        )
        try:
            return pipeline.run({"network": True}, {"cpu": "test"})
        finally:
            local.close()

    return judge


def failed(evaluation: Evaluation) -> list[str]:
    return [g.value for g, r in evaluation.gates.items() if r.state is GateState.FAILED]


def test_an_honest_candidate_passes_every_gate_and_is_promotable(judged):
    found = judged(
        "import torch\ndef run(x):\n    e = (x - x.amax(1, True)).exp()\n    return e / e.sum(1, True)\n"
    )
    assert (found.verdict, found.reason, found.promotable) == (Verdict.ACCEPTED, "", True)
    assert failed(found) == []
    assert found.timing is not None
    assert found.timing.speedup.value == pytest.approx(2.0)
    assert Evaluation.from_json(json.loads(json.dumps(found.to_json()))).verdict is Verdict.ACCEPTED


def test_the_record_says_why_a_gate_was_not_run(judged):
    found = judged("import torch\ndef run(x):\n    return torch.softmax(x, 1)\n", policy_name="screen")
    assert set(found.gates) == set(Gate)
    assert found.gates[Gate.HIDDEN].reason == "not part of the policy 'screen'"
    assert found.gates[Gate.SYMBOLIC].reason == NOT_YET
    wrong = judged("import torch\ndef run(x):\n    return x\n")
    assert wrong.gates[Gate.TIME].reason == "an earlier gate failed (incorrect)"
    assert wrong.gates[Gate.PROFILE].reason == NOT_YET


def test_a_policy_with_gates_that_cannot_run_is_never_promotable(judged):
    found = judged("import torch\ndef run(x):\n    return torch.softmax(x, 1)\n", policy_name="qualify")
    assert found.verdict is Verdict.ACCEPTED
    assert not found.promotable


@pytest.mark.parametrize(
    ("text", "verdict", "gate", "words"),
    [
        ("", Verdict.COMPILE_ERROR, "parse", ""),
        ("def run(x:\n", Verdict.COMPILE_ERROR, "parse", ""),
        ("def other(x):\n    return x\n", Verdict.COMPILE_ERROR, "parse", ""),
        (
            "raise ValueError('at import')\ndef run(x):\n    pass\n",
            Verdict.RUNTIME_ERROR,
            "visible",
            "at import",
        ),
        (
            "def run(x):\n    return x.softmax(1).half().float()\n",
            Verdict.INCORRECT,
            "visible",
            "further off",
        ),
        ("def run(x):\n    return x.softmax(1)[:-1]\n", Verdict.INCORRECT, "visible", "shape"),
        (
            "def run(x):\n    assert x.shape[1] == 48\n    return x.softmax(1)\n",
            Verdict.RUNTIME_ERROR,
            "hidden",
            "",
        ),
        ("def run(x):\n    return x.clamp(-20, 20).softmax(1)\n", Verdict.INCORRECT, "hidden", "further off"),
        (
            "def run(x):\n    y = x.softmax(1)\n    x.zero_()\n    return y\n",
            Verdict.INCORRECT,
            "memory",
            "input 0",
        ),
        (
            "import torch\nkept = {}\ndef run(x):\n    out = kept.setdefault(x.shape, torch.empty_like(x))\n"
            "    return torch.softmax(x, 1, out=out)\n",
            Verdict.INCORRECT,
            "memory",
            "overwritten",
        ),
        (
            "kept = {}\ndef run(x):\n    return kept.setdefault(x.data_ptr(), x.softmax(1))\n",
            Verdict.INTEGRITY,
            "visible",
            "earlier call",
        ),
    ],
)
def test_what_is_wrong_ends_in_its_own_verdict_and_gate(judged, text, verdict, gate, words):
    found = judged(text)
    assert found.verdict is verdict
    assert failed(found) == [gate]
    assert words in found.reason
    assert found.timing is None
    assert not found.promotable


def test_a_sum_that_leaves_out_what_rounding_hides_is_caught_on_integers(judged):
    source = "def reference(x):\n    return x.sum(1)\n"
    wide = {"axes": {"rows": 4, "cols": 4096}, "workloads": [{"name": "a"}], "accuracy": {"ulps": 1000}}
    honest = judged("def run(x):\n    return x.flip(1).sum(1)\n", source, **wide)
    assert (honest.verdict, honest.reason) == (Verdict.ACCEPTED, "")
    assert "exact" in honest.gates[Gate.HIDDEN].evidence["values"]
    text = "def run(x):\n    y = x.sum(1)\n    return y + 1e-4 * y.abs().mean()\n"
    careless = judged(text, source, **wide)
    assert (careless.verdict, failed(careless)) == (Verdict.INCORRECT, ["hidden"])
    assert careless.reason == "output 0: 4 of 4 elements differ"


def test_arranged_values_find_what_is_right_only_for_the_usual_ones(judged):
    text = "def run(x):\n    if (x.diff(dim=1) > 0).all():\n        return x\n    return x.softmax(1)\n"
    found = judged(text)
    assert (found.verdict, failed(found)) == (Verdict.INCORRECT, ["hidden"])


def test_an_operation_s_changes_are_part_of_its_answer(judged):
    honest = judged("def run(x, y):\n    x += y\n    return x.sum(1)\n", IN_PLACE, **BOTH)
    assert honest.verdict is Verdict.ACCEPTED
    idle = judged("def run(x, y):\n    return (x + y).sum(1)\n", IN_PLACE, **BOTH)
    assert (idle.verdict, failed(idle)) == (Verdict.INCORRECT, ["visible"])
    assert idle.reason.startswith("output 1:")
    greedy = judged("def run(x, y):\n    x += y\n    y.zero_()\n    return x.sum(1)\n", IN_PLACE, **BOTH)
    assert (greedy.verdict, failed(greedy)) == (Verdict.INCORRECT, ["memory"])


def test_an_honest_answer_that_depends_on_a_drawn_number_is_accepted(judged):
    inputs = {
        "x": {"shape": ["rows", "cols"], "dtype": "float32"},
        "n": {"scalar": True, "dtype": "float64", "distribution": {"kind": "normal"}},
    }
    found = judged(
        "def run(x, n):\n    return n * x\n", "def reference(x, n):\n    return x * n\n", inputs=inputs
    )
    assert (found.verdict, found.reason) == (Verdict.ACCEPTED, "")


def test_what_a_first_import_built_is_there_when_a_runner_imports(judged, tmp_path):
    built = tmp_path / "note"
    built.write_text("2")
    with tarfile.open(tmp_path / "built.tar", "w") as archive:
        archive.add(built, arcname=f"kernelwright-test-{os.getpid()}/note")
    laid = Path(f"/tmp/kernelwright-test-{os.getpid()}")
    reading = f"import pathlib\npathlib.Path('{laid}/note').read_text()\n"
    text = reading + "import torch\ndef run(x):\n    return torch.softmax(x, 1)\n"
    try:
        found = judged(text, imported=Build((tmp_path / "built.tar").read_bytes(), (), "", 30.0, False))
    finally:
        shutil.rmtree(laid, ignore_errors=True)
    assert (found.verdict, found.reason) == (Verdict.ACCEPTED, "")
    assert found.gates[Gate.BUILD].evidence["seconds"] == 30.0


def test_a_first_import_that_fails_is_a_compile_error(judged):
    output = "Traceback (most recent call last):\nRuntimeError: no such extension\n"
    found = judged("def run(x): return x", imported=Build(None, (), output, 0.1, False))
    assert (found.verdict, found.reason) == (Verdict.COMPILE_ERROR, "RuntimeError: no such extension")
    assert failed(found) == ["build"]


def test_weights_of_ones_and_zeros_must_be_used(judged):
    text = """
import torch
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[1:], {weights})
"""
    module = {"init": ["cols"]}
    used = judged(text.format(weights="self.norm.weight, self.norm.bias"), LINEAR, **module)
    assert used.verdict is Verdict.ACCEPTED
    left_out = judged(text.format(weights=""), LINEAR, **module)
    assert (left_out.verdict, failed(left_out)) == (Verdict.INCORRECT, ["hidden"])


@pytest.mark.parametrize("operation", ["sum(1)", "square().sum(1)", "softmax(1)"])
def test_another_order_of_sums_is_right_on_arranged_values(judged, operation):
    wide = {
        "axes": {"rows": {"range": [1, 8]}, "cols": 4096},
        "workloads": [{"name": "a", "axes": {"rows": 8}}],
    }
    text = "def run(x):\n    total = 0\n    for part in {}.split(128, 1):\n        total = total + part\n"
    bodies = {
        "sum(1)": text.format("x") + "    return total.sum(1)\n",
        "square().sum(1)": text.format("x.square()") + "    return total.sum(1)\n",
        "softmax(1)": "def exponentials(x):\n    return (x - x.amax(1, True)).exp()\n"
        + text.format("exponentials(x)")
        + "    return exponentials(x) / total.sum(1, True)\n",
    }
    source = f"def reference(x):\n    return x.{operation}\n"
    found = judged(bodies[operation], source, **wide)
    assert (found.reason, found.verdict) == ("", Verdict.ACCEPTED)


def test_other_layouts_are_tried_where_they_are_declared(judged):
    x = {"shape": ["rows", "cols"], "dtype": "float32"}
    text = "def run(x):\n    return x.as_strided(x.shape, (x.shape[1], 1)).softmax(1)\n"
    assert judged(text, inputs={"x": x}).verdict is Verdict.ACCEPTED
    for layout in ("transposed", "sliced"):
        found = judged(text, inputs={"x": x | {"layouts": [layout]}})
        assert (found.verdict, failed(found)) == (Verdict.INCORRECT, ["hidden"])
    aligned = "def run(x):\n    assert x.data_ptr() % 64 == 0\n    return x.softmax(1)\n"
    found = judged(aligned, inputs={"x": x | {"layouts": ["offset"]}})
    assert (found.verdict, failed(found)) == (Verdict.RUNTIME_ERROR, ["hidden"])


def test_infinities_and_nan_are_judged_where_they_are_declared(judged):
    source = "def reference(x):\n    return x.amax(1, keepdim=True) + 0 * x.sum(1, keepdim=True)\n"
    x = {"shape": ["rows", "cols"], "dtype": "float32"}
    swallows = (
        "def run(x):\n    finite = x.nan_to_num(0.0, 3e38, -3e38)\n    return finite.amax(1, keepdim=True)\n"
    )
    assert judged(swallows, source).verdict is Verdict.ACCEPTED
    declared = {"inputs": {"x": x | {"special_values": ["inf", "-inf", "nan"]}}}
    found = judged(swallows, source, **declared)
    assert (found.verdict, failed(found)) == (Verdict.INCORRECT, ["hidden"])
    assert "infinities or NaN" in found.reason
    assert judged(source.replace("reference", "run"), source, **declared).verdict is Verdict.ACCEPTED


MODULE_OF_COLUMNS = {
    "init": ["cols"],
    "axes": {"rows": {"range": [8, 64]}, "cols": {"range": [1, 96]}},
}
NORMALISED = """
import torch
class {name}(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(width{options})
        {mode}
    def forward(self, x):
        return {body}
"""


@pytest.mark.parametrize(
    ("mode", "verdict"), [("self.eval()", Verdict.INCORRECT), ("pass", Verdict.ACCEPTED)]
)
def test_constant_buffers_must_be_used_where_they_matter(judged, mode, verdict):
    parts = {"mode": mode, "options": ", affine=False"}
    source = NORMALISED.format(name="Model", body="self.norm(x)", **parts)
    own = (
        "(x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()"
        if mode == "pass"
        else "x / (1 + 1e-5) ** 0.5"
    )
    found = judged(NORMALISED.format(name="ModelNew", body=own, **parts), source, **MODULE_OF_COLUMNS)
    assert found.verdict is verdict


def test_buffers_that_do_not_matter_need_not_be_taken(judged):
    source = NORMALISED.format(name="Model", body="self.norm(x)", mode="pass", options=", affine=False")
    text = source.replace("Model", "ModelNew").replace(
        "affine=False", "affine=False, track_running_stats=False"
    )
    found = judged(text, source, **MODULE_OF_COLUMNS)
    assert (found.verdict, found.promotable) == (Verdict.ACCEPTED, True)


def test_a_build_that_fails_names_the_first_error(judged):
    errors = (Diagnostic("candidate.cpp", 3, 1, "error", "expected ';'"),)
    text = '#include "kernelwright.h"\nextern "C" int kernelwright_run(const kw_args *a) { return 0 }\n'
    found = judged(text, build=Build(None, errors, "long text", 0.1, False))
    assert (found.verdict, failed(found)) == (Verdict.COMPILE_ERROR, ["build"])
    assert found.reason == "candidate.cpp:3: expected ';'"
    assert found.gates[Gate.BUILD].evidence == {"output": "long text"}
    late = judged(text, build=Build(None, (), "", 120.0, False, timed_out=True))
    assert (late.verdict, late.reason) == (Verdict.TIMEOUT, "did not compile within 120 s")


def test_an_evaluation_with_a_defence_off_says_so_and_is_not_promotable(judged):
    text = "import torch\ndef run(x):\n    return torch.softmax(x, 1)\n"
    found = judged(text, defences=Defences(derived_bound=False))
    assert found.verdict is Verdict.ACCEPTED
    assert not found.promotable
    assert found.machine["defences_off"] == ["derived_bound"]


def test_a_loose_bound_lets_half_precision_through(judged):
    text = "def run(x):\n    return x.softmax(1).half().float()\n"
    assert (
        judged(text, policy_name="screen", defences=Defences(derived_bound=False)).verdict is Verdict.ACCEPTED
    )


def test_the_seed_of_an_evaluation_is_its_own(judged):
    text = "import torch\ndef run(x):\n    return torch.softmax(x, 1)\n"
    assert judged(text, policy_name="screen").seed != judged(text, policy_name="screen").seed


def test_nothing_is_left_open(judged):
    def descriptors() -> int:
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    judged("def run(x):\n    return x\n")
    before = descriptors()
    judged("def run(x):\n    return x\n")
    judged("def run(x):\n    return x.softmax(1)\n")
    assert descriptors() == before


def test_a_guarantee_that_an_ordinary_user_cannot_have_is_not_missed():
    assert missing({"seccomp": True, "own_uid": False, "memory_limit": False}) == ()
    assert missing({"seccomp": False, "own_uid": False}) == ("seccomp",)
