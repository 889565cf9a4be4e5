"""Inductor's code for a reference, lifted out into a candidate that stands on its own.

Made in a sandbox, because the reference runs while it is traced; what comes out is text, and becomes a candidate
that is judged like any other. It is a place to start from: its C++ kernels can be read, and changed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from evaluator.build.tools import harness
from evaluator.printable import printable
from evaluator.problem.candidate import MAX_SOURCE_BYTES, Candidate, Language
from evaluator.problem.contract import Problem
from sandbox.api import Command

CODE = "code.py"
REQUEST = "request.json"
_BENCHMARK = re.compile(r"^def (?:get_args|benchmark_compiled_module)\(", re.MULTILINE)
_ARGUMENTS = re.compile(r"^ *((?:arg\d+_\d+, ?)*arg\d+_\d+),? = args$", re.MULTILINE)
_QUOTES = re.compile(r"[\"\\\n]")

HEADER = '''\
# kernelwright: entry=run style=functional
"""What torch.compile (torch {torch}, Inductor) generates for {name}, taken out to stand on its own.

The kernels are the C++ texts below; `call` runs them in order, and library calls between them.
"""
'''

ENTRY = """

def run({arguments}):
    results = call([{arguments}])
    return results[0] if len(results) == 1 else tuple(results)
"""


@dataclass(frozen=True)
class Example:
    """An argument like those the reference gets: strides in elements, dtype by its name in contracts."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str


def command(problem: Problem, init: str, inputs: Sequence[Example], dynamic: bool) -> Command:
    """Asking for the code, as a command that leaves `CODE`.

    init: the constructor's arguments of a module, as a literal. dynamic: whether it must serve other sizes.
    """
    reference = problem.reference
    request = {
        "entry": reference.entry,
        "style": reference.style.value,
        "init": init,
        "inputs": [asdict(example) for example in inputs],
        "dynamic": dynamic,
    }
    return Command(
        argv=(sys.executable, "-m", "evaluator.harness.emit_code", REQUEST, CODE),
        files={
            **harness(),
            "candidate/reference.py": reference.source.encode(),
            REQUEST: json.dumps(request).encode(),
        },
        collect=(CODE,),
        collect_bytes=MAX_SOURCE_BYTES,
    )


def candidate(code: str, name: str, torch: str, inputs: int) -> Candidate | None:
    """The code as a candidate; None where it is not what we know.

    name: the problem's. torch: the version that made it. inputs: how many of the arguments are inputs, the rest is
    state.
    """
    benchmark, taken = _BENCHMARK.search(code), _ARGUMENTS.search(code)
    if benchmark is None or taken is None or "\ncall = " not in code:
        return None
    states = taken.group(1).count("arg") - inputs
    arguments = ", ".join([*(f"x{i}" for i in range(inputs)), *(f"w{i}" for i in range(states))])
    spoken = _QUOTES.sub(" ", printable(name))
    body = code[: benchmark.start()].rstrip()
    text = HEADER.format(torch=torch, name=spoken) + body + "\n" + ENTRY.format(arguments=arguments)
    return Candidate({"candidate.py": text}, Language.PYTHON)
