"""`kernelwright doctor`: what this host can enforce and build."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sandbox.api import Guarantee, SandboxUnavailable
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
    found = (*guarantees, *_tools())
    _show(render.console(out.as_json), found, refusal)
    out.result(
        {
            "ok": not refusal,
            "reason": refusal,
            "device": workshop.settings.device,
            "data": str(workshop.settings.data),
            "guarantees": {g.name: {"holds": g.holds, "detail": g.detail, "remedy": g.remedy} for g in found},
        }
    )
    return OUR_FAULT if refusal else FOUND


def _tools() -> Sequence[Guarantee]:
    compiler = shutil.which("g++")
    cores = len(os.sched_getaffinity(0))
    return (
        Guarantee(
            "compiler",
            compiler is not None,
            compiler or "no C++ candidates and no torch_compile baseline without g++",
            "" if compiler else "install g++",
        ),
        Guarantee(
            "two_cores",
            cores >= 2,
            f"{cores} usable cores; one is the judge's",
            "" if cores >= 2 else "timing needs a core for the judge and one for what it times",
        ),
    )


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
    if refusal:
        console.print(Text(f"No candidate can be judged here: {line(refusal, 400)}", style="bold red"))
