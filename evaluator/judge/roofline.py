"""Times that no implementation can have: below what moving the bytes takes that a call must move.

    floor       outputs whose values differ from round to round: they must be written, whatever the implementation
    with inputs the bytes of all inputs as well: an implementation that found it needs fewer may be faster

Both at the best bandwidth that the machine's caches were calibrated to, with a margin. Below the first is a cheat;
between them, or where a baseline itself is below the first (it returns a view, say), nothing is proved: no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from evaluator.evaluation import Verdict, WorkloadTiming
from evaluator.judge.ceilings import Ceilings
from evaluator.judge.faults import Fault
from evaluator.judge.oracle import Round


@dataclass(frozen=True)
class Moved:
    """Bytes of a workload's outputs that change from round to round, and of its inputs."""

    outputs: int
    inputs: int


def moved(one: Round, other: Round) -> Moved:
    """What a call must move, from two rounds of fresh values."""
    pairs = zip(one.truths, other.truths, one.native, strict=True)
    outputs = sum(int((a.values != b.values).sum()) * native.itemsize for a, b, native in pairs)
    inputs = sum(v.nbytes for v in one.inputs if isinstance(v, torch.Tensor))
    return Moved(outputs, inputs)


def require_possible(rows: Sequence[WorkloadTiming], known: Mapping[str, Moved], ceilings: Ceilings) -> None:
    """Raises Fault where a candidate's time is below its floor."""
    for row in rows:
        time, baseline = row.candidate.value, row.baselines[row.strongest].value
        floor = ceilings.floor(known[row.workload].outputs)
        if time < floor <= baseline:
            raise Fault(
                Verdict.INTEGRITY,
                f"{time * 1e6:.0f} us on {row.workload!r} is less than writing its outputs can take "
                f"({floor * 1e6:.0f} us)",
            )
        both = ceilings.floor(known[row.workload].outputs + known[row.workload].inputs)
        if time < both <= baseline:
            raise Fault(
                Verdict.NO_SCORE,
                f"{time * 1e6:.0f} us on {row.workload!r} is less than reading its inputs and writing its outputs "
                f"can take ({both * 1e6:.0f} us): either it needs fewer of them, or this is not its time; a person "
                "must look",
            )


def evidence(known: Mapping[str, Moved], ceilings: Ceilings | None) -> Mapping[str, object]:
    """What the record says of floors: by workload in seconds, and the ceiling that they come from."""
    if ceilings is None:
        return {"ceiling": "not calibrated", "seconds": {}}
    return {
        "ceiling": f"cache bandwidth of {ceilings.cache_bandwidth / 1e9:.1f} GB/s, with a margin",
        "seconds": {case: ceilings.floor(m.outputs) for case, m in known.items()},
    }
