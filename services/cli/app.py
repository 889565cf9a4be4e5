"""The sub-commands and their options. What they do is in a module each, loaded when it is called."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from services.cli.output import Output
from services.settings import Settings, read_settings
from services.workshop import OpenWorkshop, Workshop

app = typer.Typer(
    help="Search for faster kernels, and let through only what is proved correct and fast.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)
problem_app = typer.Typer(help="Look at a problem file.", rich_markup_mode=None, no_args_is_help=True)
db_app = typer.Typer(help="Look after the database.", rich_markup_mode=None, no_args_is_help=True)
bench_app = typer.Typer(help="Measure what is promised.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(problem_app, name="problem")
app.add_typer(bench_app, name="bench")
app.add_typer(db_app, name="db")


class Device(StrEnum):
    """What to work on."""

    CPU = "cpu"
    CUDA = "cuda"
    AUTO = "auto"


class SandboxKind(StrEnum):
    """What isolates foreign code: the strongest local tier that the host gives, one of them, or containers."""

    LOCAL = "local"
    NAMESPACES = "namespaces"
    RESTRICTED = "restricted"
    DOCKER = "docker"


class Policy(StrEnum):
    """Which gates are mandatory."""

    SCREEN = "screen"
    SEARCH = "search"


ProblemFile = Annotated[Path, typer.Argument(help="The problem's file.", metavar="PROBLEM")]
CandidateFile = Annotated[Path, typer.Argument(help="The candidate's file or folder.", metavar="CANDIDATE")]
JobId = Annotated[str, typer.Argument(help="The job's id.", metavar="JOB")]
DeviceOption = Annotated[Device | None, typer.Option("--device", help="What to work on (auto).")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a constant of the problem's file; repeatable."),
]
SandboxOption = Annotated[
    SandboxKind | None, typer.Option("--sandbox", help="What isolates foreign code (local).")
]
DataOption = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Where everything is kept.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
EvaluationsOption = Annotated[int | None, typer.Option("--evaluations", help="Evaluations at most.")]
SecondsOption = Annotated[float | None, typer.Option("--seconds", help="Seconds at most.")]
ReportOption = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Where the report goes.")]


@app.command()
def optimize(
    context: typer.Context,
    problem: ProblemFile,
    evaluations: EvaluationsOption = None,
    seconds: SecondsOption = None,
    report: ReportOption = None,
    proposer: Annotated[
        list[str] | None, typer.Option("--proposer", help="Use only this proposer; repeatable.")
    ] = None,
    assign: SetOption = None,
    device: DeviceOption = None,
    sandbox: SandboxOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Search for a faster implementation of PROBLEM."""
    from services.cli.optimize import optimize as run

    settings = _settings(data, device, evaluations, seconds, sandbox)
    with _workshop(context, settings) as workshop:
        return run(workshop, Output(as_json), problem, assign or (), proposer, report)


@app.command()
def resume(
    context: typer.Context,
    job: JobId,
    evaluations: EvaluationsOption = None,
    seconds: SecondsOption = None,
    report: ReportOption = None,
    device: DeviceOption = None,
    sandbox: SandboxOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Go on with a job that was stopped or killed; the options raise its budget."""
    from services.cli.optimize import resume as run

    settings = _settings(data, device, evaluations, seconds, sandbox)
    with _workshop(context, settings) as workshop:
        return run(workshop, Output(as_json), job, evaluations, seconds, report)


@app.command()
def evaluate(
    context: typer.Context,
    problem: ProblemFile,
    candidate: CandidateFile,
    policy: Annotated[Policy, typer.Option("--policy", help="Which gates are mandatory.")] = Policy.SEARCH,
    assign: SetOption = None,
    device: DeviceOption = None,
    sandbox: SandboxOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Judge one candidate on PROBLEM."""
    from services.cli.evaluate import evaluate as run

    with _workshop(context, _settings(data, device, sandbox=sandbox)) as workshop:
        return run(workshop, Output(as_json), problem, candidate, assign or (), policy.value)


@app.command()
def report(
    context: typer.Context,
    job: JobId,
    report: ReportOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write a job's report again and show its result."""
    from services.cli.optimize import report_again as run

    with _workshop(context, _settings(data)) as workshop:
        return run(workshop, Output(as_json), job, report)


@app.command()
def doctor(
    context: typer.Context,
    device: DeviceOption = None,
    sandbox: SandboxOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say what this host can enforce and build, found by trying it."""
    from services.cli.doctor import doctor as run

    with _workshop(context, _settings(data, device, sandbox=sandbox)) as workshop:
        return run(workshop, Output(as_json))


@app.command()
def calibrate(
    context: typer.Context,
    device: DeviceOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Measure what this machine can tell apart and how fast it can be, and keep it."""
    from services.cli.calibrate import calibrate as run

    with _workshop(context, _settings(data, device)) as workshop:
        return run(workshop, Output(as_json))


@bench_app.command()
def evaluator(
    context: typer.Context,
    device: DeviceOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Measure the evaluator itself: verdicts an hour, seconds by gate, how equal equal things come out."""
    from services.cli.bench import bench as run

    with _workshop(context, _settings(data, device)) as workshop:
        return run(workshop, Output(as_json))


@problem_app.command()
def check(
    context: typer.Context,
    problem: ProblemFile,
    assign: SetOption = None,
    device: DeviceOption = None,
    sandbox: SandboxOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Judge the problem itself: it must run, be finite and reproducible, and refuse zeros and constants."""
    from services.cli.problem import check as run

    with _workshop(context, _settings(data, device, sandbox=sandbox)) as workshop:
        return run(workshop, Output(as_json), problem, assign or ())


@problem_app.command()
def show(problem: ProblemFile, assign: SetOption = None, as_json: JsonOption = False) -> int:
    """Show the contract, with the defaults that were taken."""
    from services.cli.problem import show as run

    return run(Output(as_json), problem, assign or ())


@db_app.command()
def upgrade(context: typer.Context, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Bring the database's schema up to date."""
    from services.cli.database import upgrade as run

    with _workshop(context, _settings(data)) as workshop:
        return run(workshop, Output(as_json))


def _settings(
    data: Path | None,
    device: Device | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    sandbox: SandboxKind | None = None,
) -> Settings:
    return read_settings(
        os.environ, data, device and device.value, evaluations, seconds, sandbox and sandbox.value
    )


@contextmanager
def _workshop(context: typer.Context, settings: Settings) -> Iterator[Workshop]:
    """What the caller of `main` gave, else the real one."""
    opener: OpenWorkshop = context.obj or _real()
    workshop = opener(settings)
    try:
        yield workshop
    finally:
        workshop.close()


def _real() -> OpenWorkshop:
    from services.bootstrap import open_workshop

    return open_workshop
