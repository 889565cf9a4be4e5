"""Trace a reference to plain data: its operations, shapes, dtypes and edges, at one workload.

Runs inside a reference runner, on fake tensors: nothing is computed. The result is what
`evaluator.problem.graph.Graph.from_json` reads.

Ids: "x3" for the fourth argument of the call (a float is a float64 tensor without dimensions where the reference
takes one; any other number is inlined as a literal and has no id), the state-dict name for a parameter or buffer,
"n0", "n1", … for nodes. Operations are core ATen, free of mutation where the reference is.
Literals that JSON cannot hold are the strings "inf", "-inf", "nan"; dtypes are strings.

Errors:

    TraceError      the reference cannot be traced; the text says why, in a line
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch._decomp import core_aten_decompositions
from torch.func import functional_call, functionalize
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

IDENTITIES = frozenset(
    f"aten.{name}.default"
    for name in ("detach", "alias", "lift_fresh_copy", "lift_fresh", "clone", "contiguous")
)
IGNORED_KEYWORDS = frozenset({"layout", "device", "pin_memory", "memory_format"})


class TraceError(Exception):
    """The reference cannot be traced."""


def trace(
    call: Callable[..., object], inputs: Sequence[object], parameters: Mapping[str, torch.Tensor]
) -> dict[str, object]:
    """The graph of `call(*inputs)` as JSON data.

    call: a module (its state dict is `parameters`) or a function (then `parameters` is empty).
    inputs: tensors and Python scalars. None of them is read or changed.
    Raises TraceError.
    """
    floats = [i for i, value in enumerate(inputs) if type(value) is float]
    if floats:
        with contextlib.suppress(TraceError):
            graph, read = _trace(call, inputs, parameters, floats)
            if not read:
                return graph
    return _trace(call, inputs, parameters, [])[0]


def _trace(
    call: Callable[..., object],
    inputs: Sequence[object],
    parameters: Mapping[str, torch.Tensor],
    floats: Sequence[int],
) -> tuple[dict[str, object], bool]:
    """The graph with the numbers at the places `floats` as tensors without dimensions, and whether the reference
    reads such a one back as a number, which would leave it unnamed where it is used."""
    places = [i for i, value in enumerate(inputs) if isinstance(value, torch.Tensor) or i in floats]
    names = list(parameters)

    def flat(state: list[torch.Tensor], tensors: list[torch.Tensor]) -> object:
        arguments = list(inputs)
        for place, tensor in zip(places, tensors, strict=True):
            arguments[place] = tensor
        if isinstance(call, torch.nn.Module):
            return functional_call(call, dict(zip(names, state, strict=True)), tuple(arguments))
        return call(*arguments)

    values = (inputs[place] for place in places)
    tensors = [v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=torch.float64) for v in values]
    try:
        with torch.no_grad():
            traced = make_fx(
                functionalize(flat, remove="mutations"),
                decomposition_table=core_aten_decompositions(),  # type: ignore[arg-type]
                tracing_mode="fake",
                _allow_non_fake_inputs=True,
            )(list(parameters.values()), tensors)
    except Exception as e:
        raise TraceError(f"{type(e).__name__}: {_first_line(e)}") from e
    read = any(node.target is torch.ops.aten._local_scalar_dense.default for node in traced.graph.nodes)
    return _Writer(traced, names + [f"x{place}" for place in places], len(names)).graph(), read


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else "no message"


class _Writer:
    """Writes one traced module as JSON data."""

    def __init__(self, traced: GraphModule, sources: list[str], n_parameters: int) -> None:
        self.traced = traced
        self.nodes = list(traced.graph.nodes)
        self.references: dict[Node, object] = {}
        placeholders = [node for node in self.nodes if node.op == "placeholder"]
        self.values = [{"id": name, **_meta(node)} for name, node in zip(sources, placeholders, strict=True)]
        self.n_parameters = n_parameters
        self.written = 0
        for name, node in zip(sources, placeholders, strict=True):
            self.references[node] = {"ref": name}

    def graph(self) -> dict[str, object]:
        """The whole graph: live nodes only, in execution order."""
        result = next(node for node in self.nodes if node.op == "output")
        live = self._live(result)
        rows = [row for node in self.nodes if node in live for row in self._rows(node)]
        returned = result.args[0]
        outputs = returned if isinstance(returned, (list, tuple)) else [returned]
        return {
            "inputs": self.values[self.n_parameters :],
            "parameters": self.values[: self.n_parameters],
            "nodes": rows,
            "outputs": [self._output(value) for value in outputs],
        }

    def _live(self, result: Node) -> set[Node]:
        live: set[Node] = set()
        pending = [result, *(node for node in self.nodes if _mutates(node))]
        while pending:
            node = pending.pop()
            if node not in live:
                live.add(node)
                pending.extend(node.all_input_nodes)
        return live

    def _output(self, value: object) -> dict[str, object]:
        reference = self.references[value] if isinstance(value, Node) else value
        if not isinstance(reference, dict):
            raise TraceError(f"it returns a {type(reference).__name__} where a tensor is expected")
        return reference

    def _rows(self, node: Node) -> list[dict[str, object]]:
        """The node's row, or none where it only renames another value."""
        if node.op == "get_attr":
            self.references[node] = self._constant(str(node.target))
            return []
        if node.op != "call_function":
            return []
        if getattr(node.target, "__name__", "") == "getitem":
            source, item = node.args
            self.references[node] = {**self._output(source), "item": item}
            return []
        op = str(node.target)
        if op in IDENTITIES:
            self.references[node] = self._argument(node.args[0])
            return []
        return [self._row(node, op)]

    def _constant(self, name: str) -> object:
        tensor = getattr(self.traced, name)
        if not isinstance(tensor, torch.Tensor) or tensor.numel() != 1:
            raise TraceError("it uses a tensor that is neither an argument nor in its state dict")
        return self._argument(tensor.item())

    def _row(self, node: Node, op: str) -> dict[str, object]:
        name = f"n{self.written}"
        self.written += 1
        self.references[node] = {"ref": name}
        values = _tensors(node.meta.get("val"))
        return {
            "id": name,
            "op": op,
            "args": [self._argument(a) for a in node.args],
            "kwargs": {k: self._argument(v) for k, v in node.kwargs.items() if k not in IGNORED_KEYWORDS},
            "shapes": [list(map(int, v.shape)) for v in values],
            "dtypes": [_dtype(v.dtype) for v in values],
        }

    def _argument(self, value: object) -> object:
        if isinstance(value, Node):
            return self.references[value]
        if isinstance(value, (list, tuple)):
            return [self._argument(v) for v in value]
        if isinstance(value, torch.dtype):
            return _dtype(value)
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TraceError(f"an argument of type {type(value).__name__} has no plain form")


def _mutates(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return bool(schema is not None and schema.is_mutable)


def _tensors(value: object) -> list[torch.Tensor]:
    """The tensors a node yields; a place without one (None) counts as an empty tensor of no use."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [v if isinstance(v, torch.Tensor) else torch.empty(0, device="meta") for v in items]


def _meta(node: Node) -> dict[str, object]:
    value = node.meta["val"]
    return {"shape": list(map(int, value.shape)), "dtype": _dtype(value.dtype)}


def _dtype(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
