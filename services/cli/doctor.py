"""`kernelwright doctor`: what this host can enforce and build."""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sandbox.api import Guarantee, SandboxUnavailable
from services.calibrations import Calibrations
from services.cli import render
from services.cli.failures import FOUND, OUR_FAULT
from services.cli.output import Output
from services.text import line
from services.workshop import Workshop


def doctor(workshop: Workshop, out: Output) -> int:
    """Show guarantee by guarantee what holds; 3 where no candidate can be judged here."""
    try:
        guarantees, refusal = workshop.guarantees(), ""
    except SandboxUnavailable as e:
        guarantees, refusal = e.missing, str(e)
    found = (*guarantees, *_tools(), _calibrated(workshop.settings.calibrations))
    _show(render.console(out.as_json), found, refusal)
    out.result(
        {
            "ok": not refusal,
            "reason": refusal,
            "device": workshop.settings.device,
            "sandbox": workshop.settings.sandbox,
            "data": str(workshop.settings.data),
            "guarantees": {g.name: {"holds": g.holds, "detail": g.detail, "remedy": g.remedy} for g in found},
        }
    )
    return OUR_FAULT if refusal else FOUND


def _tools() -> Sequence[Guarantee]:
    return (_compiler(), _headers(), _two_cores(), _real_time())


def _real_time() -> Guarantee:
    """Whether timed calls can be put before other work; tried on this very thread, for a moment."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        lost = "refused: beside other work most samples are void, and nothing gets a score"
        remedy = "set rtprio to 1 for this user in /etc/security/limits.conf, or leave the machine quiet"
        return Guarantee("real_time", False, lost, remedy)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return Guarantee("real_time", True, "timed calls come before other work")


def _calibrated(folder: Path) -> Guarantee:
    """Whether a judge here finds what it must know of its machine, or has to measure it shortly at every start."""
    known = Calibrations(folder).count()
    detail = (
        f"{known} machines known in {folder}"
        if known
        else "every judge calibrates itself, and knows no ceilings"
    )
    return Guarantee("calibrated", known > 0, detail, "" if known else "run kernelwright calibrate once")


def _compiler() -> Guarantee:
    found = shutil.which("g++")
    lost = "no C++ candidates and no torch_compile baseline without g++"
    return Guarantee("compiler", found is not None, found or lost, "" if found else "install g++")


def _headers() -> Guarantee:
    """What torch.compile generates for a CPU is built against the interpreter's headers."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    holds = header.exists()
    detail = str(header) if holds else f"no {header}: no torch_compile baseline"
    remedy = "" if holds else "install the headers of this Python (Debian: python3-dev)"
    return Guarantee("python_headers", holds, detail, remedy)


def _two_cores() -> Guarantee:
    cores = len(os.sched_getaffinity(0))
    remedy = "" if cores >= 2 else "timing needs a core for the judge and one for what it times"
    return Guarantee("two_cores", cores >= 2, f"{cores} usable cores; one is the judge's", remedy)


def _show(console: Console, guarantees: Sequence[Guarantee], refusal: str) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("guarantee", no_wrap=True)
    table.add_column("holds")
    table.add_column("found, and what would help")
    for g in guarantees:
        holds = Text("yes", style="green") if g.holds else Text("no", style="bold red")
        remedy = "" if g.holds else f"; {line(g.remedy, 200)}"
        table.add_row(g.name, holds, Text(f"{line(g.detail, 200)}{remedy}"))
    console.print(table)
    weak = ", ".join(g.name for g in guarantees if g.name.endswith("_namespace") and not g.holds)
    if refusal:
        console.print(Text(f"No candidate can be judged here: {line(refusal, 400)}", style="bold red"))
    elif weak:
        console.print(Text(f"Candidates are judged here, and none is promotable: no {weak}.", style="yellow"))
