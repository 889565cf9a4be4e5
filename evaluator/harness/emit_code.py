"""The code that torch.compile's Inductor makes of a reference, as text. Run by the builder in a sandbox.

    python -m evaluator.harness.emit_code REQUEST CODE

REQUEST is a JSON file: `entry`, `style` and `init` of the reference (reference.py in `loading.candidate_folder()`),
`inputs` (shape, strides and dtype of each argument; all are tensors), `dynamic` (whether the code must serve other
sizes).
CODE is written: a Python module with C++ kernels, whose function `call` takes a list of the inputs and then the
state, in order, and gives a tuple. A reference that Inductor cannot take ends the process with an exception.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._inductor.compile_fx import compile_fx
from torch._inductor.graph import GraphLowering
from torch.func import functional_call, functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from evaluator.harness.loading import candidate_folder, construct, import_main
from evaluator.harness.tensors import DTYPES


def main(request: str, code: str) -> None:
    """Read the request, write the code."""
    asked = json.loads(Path(request).read_text())
    reference: Any = import_main("reference.py", candidate_folder())
    target = getattr(reference, asked["entry"])
    state: dict[str, torch.Tensor] = {}
    if asked["style"] == "module":
        target = construct(target, ast.literal_eval(asked["init"]))
        state = {name: t.detach() for name, t in target.state_dict(keep_vars=True).items()}
    inputs = [_tensor(spec) for spec in asked["inputs"]]
    Path(code).write_text(emitted(target, inputs, state, asked["dynamic"]))


def emitted(
    target: Any, inputs: Sequence[torch.Tensor], state: Mapping[str, torch.Tensor], dynamic: bool
) -> str:
    """Inductor's code for `target` on tensors like `inputs` with parameters like `state`."""
    names = list(state)

    def flat(*tensors: torch.Tensor) -> object:
        arguments, weights = tensors[: len(inputs)], tensors[len(inputs) :]
        if isinstance(target, torch.nn.Module):
            return functional_call(target, dict(zip(names, weights, strict=True)), arguments)
        return target(*arguments)

    codes: list[str] = []
    GraphLowering.save_output_code = codes.append
    with torch.no_grad():
        traced = make_fx(
            functionalize(flat, remove="mutations"), tracing_mode="symbolic" if dynamic else "fake"
        )(*inputs, *state.values())
        fakes = [node.meta["val"] for node in traced.graph.nodes if node.op == "placeholder"]
        compile_fx(traced, fakes)
    (code,) = codes
    return code


def _tensor(spec: Mapping[str, Any]) -> torch.Tensor:
    return torch.empty_strided(spec["shape"], spec["strides"], dtype=DTYPES[spec["dtype"]]).zero_()


if __name__ == "__main__":
    main(*sys.argv[1:])
