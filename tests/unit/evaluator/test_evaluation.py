"""Evaluations that contradict themselves cannot be built, and records come back as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.evaluation import (
    Evaluation,
    Gate,
    GateResult,
    GateState,
    Interval,
    Timing,
    Verdict,
    WorkloadTiming,
)

PASSED = GateResult(GateState.PASSED)
FAILED = GateResult(GateState.FAILED, "wrong")


def row(name: str, speedup: Interval, weight: float = 1.0, strongest: str = "torch_eager") -> WorkloadTiming:
    time = Interval(1e-3, 0.9e-3, 1.1e-3)
    return WorkloadTiming(name, weight, time, {strongest: time}, strongest, speedup, 36, 2)


def timing(*rows: WorkloadTiming, speedup: Interval | None = None) -> Timing:
    overall = speedup or Interval(1.5, 1.4, 1.6)
    return Timing("released calls", "eager", 1, 5e-5, 2e-5, 3, rows or (row("a", overall),), overall)


def evaluation(**changes: Any) -> Evaluation:
    """An accepted, promotable evaluation with some fields replaced."""
    fields: dict[str, Any] = {
        "problem": "p" * 64,
        "candidate": "c" * 64,
        "policy": "search",
        "verdict": Verdict.ACCEPTED,
        "reason": "",
        "gates": dict.fromkeys(Gate, PASSED),
        "timing": timing(),
        "promotable": True,
        "guarantees": {"network": True},
        "machine": {"cpu": "x", "threads": 1},
        "stages": {"parse": 0.1},
        "seed": "00ff",
    }
    return Evaluation(**(fields | changes))


def test_a_gate_that_was_not_passed_says_why() -> None:
    for state in (GateState.FAILED, GateState.NOT_RUN):
        with pytest.raises(ValueError, match="needs a reason"):
            GateResult(state)


@pytest.mark.parametrize(("low", "high"), [(1.1, 1.2), (0.8, 0.9), (float("nan"), 2.0), (0.5, float("nan"))])
def test_an_interval_contains_its_value(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="not an interval"):
        Interval(1.0, low, high)


def test_every_gate_is_listed() -> None:
    gates = {g: PASSED for g in Gate if g is not Gate.NUMERICS}
    with pytest.raises(ValueError, match="numerics"):
        evaluation(gates=gates)


def test_accepted_means_timed_and_no_gate_failed() -> None:
    with pytest.raises(ValueError, match="accepted needs"):
        evaluation(timing=None)
    with pytest.raises(ValueError, match="hidden"):
        evaluation(gates=dict.fromkeys(Gate, PASSED) | {Gate.HIDDEN: FAILED})


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.ACCEPTED])
def test_a_rejection_says_why_and_is_never_promotable(verdict: Verdict) -> None:
    assert evaluation(verdict=verdict, reason="because", promotable=False).verdict is verdict
    with pytest.raises(ValueError, match="needs a reason"):
        evaluation(verdict=verdict, promotable=False)
    with pytest.raises(ValueError, match="promotable"):
        evaluation(verdict=verdict, reason="because")


def test_something_is_found_only_where_it_is_surely_faster_and_nowhere_slower_than_the_floor() -> None:
    sure, unsure = Interval(1.2, 1.1, 1.3), Interval(1.2, 0.99, 1.4)
    assert evaluation(timing=timing(speedup=sure)).found_something(0.98)
    assert not evaluation(timing=timing(speedup=unsure)).found_something(0.98)
    mixed = timing(row("a", sure), row("b", Interval(0.9, 0.8, 1.0)), speedup=sure)
    assert not evaluation(timing=mixed).found_something(0.98)
    assert evaluation(timing=mixed).found_something(0.85)
    rejected = evaluation(verdict=Verdict.NO_SCORE, reason="noise", promotable=False)
    assert not rejected.found_something(0.0)


def test_the_baseline_is_the_one_that_is_strongest_on_most_of_the_weight() -> None:
    one = Interval(1.0, 1.0, 1.0)
    rows = (
        row("a", one, 1.0, "torch_eager"),
        row("b", one, 1.0, "torch_eager"),
        row("c", one, 3.0, "torch_compile"),
    )
    assert timing(*rows).baseline == "torch_compile"


floats = st.floats(min_value=1e-9, max_value=1e9)
intervals = st.tuples(floats, floats, floats).map(sorted).map(lambda v: Interval(v[1], v[0], v[2]))
names = st.text(min_size=1, max_size=8)
evidence = st.dictionaries(names, st.integers() | names | st.lists(names, max_size=2), max_size=3)
rows = st.builds(
    WorkloadTiming,
    workload=names,
    weight=floats,
    candidate=intervals,
    baselines=st.dictionaries(names, intervals, min_size=1, max_size=2),
    strongest=names,
    speedup=intervals,
    samples=st.integers(0, 100),
    voided=st.integers(0, 100),
)
timings = st.builds(
    Timing,
    way=names,
    mode=names,
    threads=st.integers(1, 64),
    resolution=floats,
    constant=floats,
    restarts=st.integers(1, 9),
    workloads=st.lists(rows, min_size=1, max_size=3).map(tuple),
    speedup=intervals,
)
gate_results = st.builds(GateResult, st.sampled_from(GateState), names, evidence)
rejections = st.builds(
    Evaluation,
    problem=names,
    candidate=names,
    policy=names,
    verdict=st.sampled_from([v for v in Verdict if v is not Verdict.ACCEPTED]),
    reason=names,
    gates=st.fixed_dictionaries(dict.fromkeys(Gate, gate_results)),
    timing=st.none() | timings,
    promotable=st.just(False),
    guarantees=st.dictionaries(names, st.booleans(), max_size=3),
    machine=evidence,
    stages=st.dictionaries(names, floats, max_size=3),
    seed=names,
)


@given(rejections | timings.map(lambda t: evaluation(timing=t)))
def test_a_record_survives_json(record: Evaluation) -> None:
    assert Evaluation.from_json(json.loads(json.dumps(record.to_json()))) == record


def places(data: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside JSON data."""
    items: list[tuple[Any, object]] = []
    if isinstance(data, dict):
        items = list(data.items())
    if isinstance(data, list):
        items = list(enumerate(data))
    return [path, *(p for key, value in items for p in places(value, (*path, key)))]


RECORD = evaluation().to_json()
FREE = {"evidence", "machine", "guarantees", "stages"}


@pytest.mark.parametrize("garbage", [None, "x", True, [], {}, [1], {"surprise": 1}], ids=repr)
def test_a_record_of_another_form_raises_what_is_promised(garbage: object) -> None:
    for path in places(RECORD):
        if not path or set(path) & FREE:
            continue
        data: Any = json.loads(json.dumps(RECORD))
        place = data
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = garbage
        try:
            read = Evaluation.from_json(data)
        except (TypeError, ValueError):
            continue
        assert type(garbage) is type(_at(RECORD, path)) or path == ("timing",), path
        assert json.loads(json.dumps(read.to_json())) == data


def _at(data: Any, path: tuple[Any, ...]) -> object:
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize("missing", ["gates", "timing", "verdict", "problem", "promotable"])
def test_a_record_without_a_field_is_refused(missing: str) -> None:
    data = {k: v for k, v in RECORD.items() if k != missing}
    with pytest.raises(TypeError, match="has the fields"):
        Evaluation.from_json(data)


def test_a_record_keeps_its_names() -> None:
    record = replace(
        evaluation(), gates=dict.fromkeys(Gate, PASSED) | {Gate.RULES: GateResult(GateState.NOT_RUN, "no")}
    )
    data = json.loads(json.dumps(record.to_json()))
    assert list(data["gates"]) == [g.value for g in Gate]
    assert data["gates"]["rules"] == {"state": "not_run", "reason": "no", "evidence": {}}
    assert data["verdict"] == "accepted"
    assert data["timing"]["speedup"] == {"value": 1.5, "low": 1.4, "high": 1.6}
