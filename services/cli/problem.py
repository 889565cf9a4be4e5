"""`kernelwright problem check` and `problem show`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluator.problem.contract import Contract, InputSpec, Problem
from evaluator.problem.records import contract_to_json
from services.cli import render
from services.cli.failures import FOUND, NOT_FOUND
from services.cli.inputs import read_problem
from services.cli.output import Output
from services.text import clean, line
from services.workshop import ProblemReport, Workshop


def check(workshop: Workshop, out: Output, path: Path, assignments: Sequence[str]) -> int:
    """Judge the problem itself; 0 when candidates can be judged on it."""
    problem = read_problem(path, assignments)
    with workshop.evaluator(out.say) as evaluator:
        report = evaluator.check(problem)
    show_findings(render.console(out.as_json), report)
    out.result(
        {
            "ok": report.ok,
            "problem": problem.digest,
            "name": problem.contract.name,
            "notes": problem.notes,
            "findings": [
                {"name": f.name, "passed": f.passed, "detail": clean(f.detail)} for f in report.findings
            ],
        }
    )
    return FOUND if report.ok else NOT_FOUND


def show_findings(console: Console, report: ProblemReport) -> None:
    """What was asked of a problem, and what was seen."""
    table = Table("check", "result", "detail", box=None, pad_edge=False)
    for finding in report.findings:
        result = Text("ok", style="green") if finding.passed else Text("failed", style="bold red")
        table.add_row(finding.name, result, Text(line(finding.detail, 300)))
    console.print(table)
    console.print("The problem can be judged." if report.ok else "The problem cannot be judged as it stands.")


def show(out: Output, path: Path, assignments: Sequence[str]) -> int:
    """Show the contract; nothing of the file is run."""
    problem = read_problem(path, assignments)
    _show(render.console(out.as_json), problem)
    out.result(
        {
            "problem": problem.digest,
            "origin": problem.origin,
            "notes": problem.notes,
            "contract": contract_to_json(problem.contract),
            "reference": {
                "entry": problem.reference.entry,
                "style": problem.reference.style.value,
                "source": problem.reference.source,
            },
        }
    )
    return FOUND


def _show(console: Console, problem: Problem) -> None:
    contract = problem.contract
    console.print(Text(f"{line(contract.name)}  {problem.digest[:12]}  ({problem.origin})", style="bold"))
    console.print(_facts(contract))
    if contract.inputs is not None:
        console.print(_inputs(contract.inputs))
    console.print(_workloads(contract))
    for note in problem.notes:
        console.print(Text(f"note: {line(note, 300)}", style="yellow"))


def _facts(contract: Contract) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    accuracy = contract.accuracy
    axes = ", ".join(
        f"{a.name}={a.low}" if a.low == a.high else f"{a.name}={a.low}…{a.high}" for a in contract.axes
    )
    for name, value in (
        ("axes", axes or "none"),
        ("accuracy", f"{accuracy.ratio:g} × the reference's own error + {accuracy.ulps:g} ulp"),
        ("precision", contract.precision.value),
        ("mode", f"{contract.mode} on {contract.device}"),
        ("baselines", ", ".join(contract.baselines)),
        ("mutates", ", ".join(contract.mutates) or "nothing"),
        ("may ignore", ", ".join(contract.may_ignore) or "no input"),
        ("may be constant", ", ".join(contract.may_be_constant) or "no output"),
        ("floor", f"{contract.floor:g} on every workload"),
    ):
        table.add_row(Text(name, style="dim"), Text(line(value, 300)))
    return table


def _inputs(inputs: Sequence[InputSpec]) -> Table:
    table = Table("input", "shape", "dtype", "distribution", "layout", "also", box=None, pad_edge=False)
    for spec in inputs:
        shape = "scalar" if spec.scalar else "×".join(str(s) for s in spec.shape)
        also = ", ".join([*(layout.value for layout in spec.layouts), *spec.special_values])
        table.add_row(spec.name, shape, spec.dtype, spec.distribution.kind.value, spec.layout.value, also)
    return table


def _workloads(contract: Contract) -> Table:
    table = Table("workload", "weight", "axes", box=None, pad_edge=False)
    for workload in contract.workloads:
        axes = ", ".join(f"{k}={v}" for k, v in contract.axis_values(workload).items())
        table.add_row(Text(line(workload.name, 60)), f"{workload.weight:g}", axes)
    return table
