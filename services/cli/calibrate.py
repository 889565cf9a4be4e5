"""`kernelwright calibrate`: what this machine can tell apart, and how fast it can be at best."""

from __future__ import annotations

from rich.table import Table

from services.cli import render
from services.cli.failures import FOUND
from services.cli.output import Output
from services.workshop import Calibrated, Workshop


def calibrate(workshop: Workshop, out: Output) -> int:
    """Measure, keep what was found for this machine, and show it."""
    out.say("calibrating: leave the machine alone for half a minute")
    with workshop.evaluator(out.say) as evaluator:
        found = evaluator.calibrate()
        machine = evaluator.machine
    render.console(out.as_json).print(table(found))
    out.result({"calibration": found.to_json(), "machine": dict(machine)})
    return FOUND


def table(found: Calibrated) -> Table:
    """The figures, with their units."""
    shown = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows(found):
        shown.add_row(name, value)
    return shown


def rows(found: Calibrated) -> list[tuple[str, str]]:
    """Name and value of every figure."""
    listed = [
        ("a call that does nothing, result returned", f"{found.functional * 1e6:.1f} us"),
        ("a call that does nothing, result written in place", f"{found.destination * 1e6:.1f} us"),
        ("the least time that is told apart", f"{found.resolution * 1e6:.0f} us"),
        ("two equal things differ by at most", f"{found.noise:.1%}"),
    ]
    if found.ceilings is not None:
        for b in found.ceilings.bandwidths:
            listed.append((f"bandwidth, {_size(b.working_set)} in use", f"{b.rate / 1e9:.1f} GB/s"))
        listed.append(("float32 operations", f"{found.ceilings.float32_rate / 1e9:.0f} GFLOP/s"))
    return listed


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
