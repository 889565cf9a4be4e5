"""`kernelwright evaluate PROBLEM CANDIDATE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluator.canonical import plain
from evaluator.evaluation import (
    Evaluation,
    Gate,
    GateResult,
    GateState,
    InfraError,
    InvalidProblem,
    Verdict,
)
from evaluator.problem.candidate import Candidate, CandidateError
from evaluator.problem.contract import Problem
from evaluator.problem.load import load_candidate
from services.cli import render
from services.cli.failures import FOUND, NOT_FOUND, exit_code, kind, message
from services.cli.inputs import read_problem, require_file
from services.cli.output import Output
from services.text import line
from services.workshop import Workshop


def evaluate(
    workshop: Workshop, out: Output, path: Path, candidate: Path, assignments: Sequence[str], policy: str
) -> int:
    """Judge the candidate, show what was found; 0 when accepted."""
    problem = read_problem(path, assignments)
    require_file(candidate, "candidate")
    try:
        judged = _judge(workshop, out, problem, load_candidate(candidate), policy)
    except CandidateError as e:
        judged = unreadable(problem, policy, str(e))
    except (InvalidProblem, InfraError) as e:
        judged = unjudged(problem, policy, e)
        show(out, judged, {"error": {"kind": kind(e), "message": message(e)}})
        return exit_code(e)
    show(out, judged)
    return FOUND if judged.verdict is Verdict.ACCEPTED else NOT_FOUND


def show(out: Output, judged: Evaluation, more: Mapping[str, object] | None = None) -> None:
    """To the console for a person, as one object for a machine."""
    render.console(out.as_json).print(render.evaluation(judged))
    out.result(evaluation_result(judged) | dict(more or {}))


def _judge(
    workshop: Workshop, out: Output, problem: Problem, candidate: Candidate, policy: str
) -> Evaluation:
    with workshop.evaluator(out.say) as evaluator:
        return evaluator.evaluate(problem, candidate, policy)


def unreadable(problem: Problem, policy: str, reason: str) -> Evaluation:
    """The verdict on files that are no candidate at all: gate `parse` failed, and nothing was started."""
    failed = {Gate.PARSE: GateResult(GateState.FAILED, line(reason, 400))}
    return _without_judge(problem, policy, Verdict.COMPILE_ERROR, reason, "an earlier gate failed", failed)


def unjudged(problem: Problem, policy: str, error: InvalidProblem | InfraError) -> Evaluation:
    """The verdict where nothing can be said of the candidate: the problem is invalid, or the machine failed."""
    verdict = Verdict.INVALID_PROBLEM if isinstance(error, InvalidProblem) else Verdict.INFRA_ERROR
    return _without_judge(problem, policy, verdict, str(error), f"nothing was judged ({verdict.value})", {})


def _without_judge(
    problem: Problem, policy: str, verdict: Verdict, reason: str, why: str, gates: Mapping[Gate, GateResult]
) -> Evaluation:
    gates = dict.fromkeys(Gate, GateResult(GateState.NOT_RUN, why)) | dict(gates)
    return Evaluation(
        problem=problem.digest,
        candidate="",
        policy=policy,
        verdict=verdict,
        reason=line(reason, 400),
        gates=gates,
        timing=None,
        promotable=False,
        guarantees={},
        machine={},
    )


def evaluation_result(judged: Evaluation) -> dict[str, object]:
    """The object that `--json` prints."""
    return {
        "verdict": judged.verdict.value,
        "reason": judged.reason,
        "gates": {gate.value: result.state.value for gate, result in judged.gates.items()},
        "speedup": plain(judged.timing.speedup) if judged.timing else None,
        "baseline": judged.timing.baseline if judged.timing else None,
        "promotable": judged.promotable,
        "guarantees": dict(judged.guarantees),
        "problem": judged.problem,
        "candidate": judged.candidate,
        "evaluation": judged.to_json(),
    }
