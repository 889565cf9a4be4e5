"""One call of the candidate as a plan: captured into a graph, its nodes read back, their code found.

What cannot be lifted is named: `NotLiftable` says which node and why.
"""

from __future__ import annotations

import base64
import ctypes
import gc
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from cuda.bindings import driver as cu

from evaluator.harness.cuda.driver import call, parameters
from evaluator.harness.cuda.plan import (
    Argument,
    Dimensions,
    Empty,
    Kernel,
    Memcpy,
    Memset,
    Node,
    Plan,
    digest,
)

WARM_UPS = 3
_KIND = cu.CUgraphNodeType
_ATTRIBUTE = cu.CUlaunchAttributeID
_DEVICE = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
_UNIFIED = cu.CUmemorytype.CU_MEMORYTYPE_UNIFIED


class NotLiftable(Exception):
    """The call does something that only its own process can do."""


@dataclass(frozen=True)
class Captured:
    """A plan, the cubins it needs by digest, and what the call returned: tensors at the plan's addresses."""

    plan: Plan
    cubins: Mapping[str, bytes]
    result: object
    graph: torch.cuda.CUDAGraph


def capture(run: Callable[[], object], pool: torch.cuda.MemPool, code: Code) -> Captured:
    """Capture one call of `run`, whose memory comes from `pool`. Raises NotLiftable, and what `run` raises.

    It is called a few times before, on the stream of the capture: what it builds or tunes, it does then.
    """
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.cuda.use_mem_pool(pool):
        for _ in range(WARM_UPS):
            result = run()
        stream.synchronize()
        del result
    try:
        with torch.cuda.graph(graph, pool=pool.id, stream=stream):  # type: ignore[arg-type]
            result = run()
    except RuntimeError as e:
        raise NotLiftable(f"the call cannot be captured: {e}") from e
    torch.cuda.synchronize()
    plan, cubins = read_graph(cu.CUgraph(int(graph.raw_cuda_graph())), code)
    return Captured(plan, cubins, result, graph)


def read_graph(graph: cu.CUgraph, code: Code) -> tuple[Plan, dict[str, bytes]]:
    """A captured graph as a plan, and the cubins that it needs. Raises NotLiftable."""
    nodes = _listed(cu.cuGraphGetNodes, graph)[0]
    before, after, data = _listed(cu.cuGraphGetEdges, graph)
    if any(d.type or d.from_port or d.to_port for d in data):
        raise NotLiftable("kernels overlap by programmatic dependent launch")
    place = {int(n): i for i, n in enumerate(nodes)}
    edges = tuple((place[int(b)], place[int(a)]) for b, a in zip(before, after, strict=True))
    cubins: dict[str, bytes] = {}
    return Plan(tuple(_node(n, code, cubins) for n in nodes), edges), cubins


def _listed(function: Callable[..., tuple[object, ...]], graph: cu.CUgraph) -> list[list[cu.CUgraphNode]]:
    """What cuGraphGetNodes and cuGraphGetEdges give: asked first for the number."""
    *_, count = call(function, graph, 0)
    *lists, _ = call(function, graph, count)
    return [list(found)[:count] for found in lists]


def _node(node: cu.CUgraphNode, code: Code, cubins: dict[str, bytes]) -> Node:
    kind = call(cu.cuGraphNodeGetType, node)
    if kind == _KIND.CU_GRAPH_NODE_TYPE_KERNEL:
        return _kernel(node, code, cubins)
    if kind == _KIND.CU_GRAPH_NODE_TYPE_MEMSET:
        return _memset(call(cu.cuGraphMemsetNodeGetParams, node))
    if kind == _KIND.CU_GRAPH_NODE_TYPE_MEMCPY:
        return _memcpy(call(cu.cuGraphMemcpyNodeGetParams, node))
    if kind == _KIND.CU_GRAPH_NODE_TYPE_EMPTY:
        return Empty()
    raise NotLiftable(f"a node of kind {getattr(kind, 'name', kind)}")


def _kernel(node: cu.CUgraphNode, code: Code, cubins: dict[str, bytes]) -> Kernel:
    launch = call(cu.cuGraphKernelNodeGetParams, node)
    function = launch.func if int(launch.func) else call(cu.cuKernelGetFunction, launch.kern)
    name = call(cu.cuFuncGetName, function).decode()
    cubin = code.find(int(function), name)
    if cubin is None:
        raise NotLiftable(f"the code of {name[:120]!r} is not at hand: a library's kernel")
    code_digest = digest(cubin)
    cubins[code_digest] = cubin
    if int(launch.extra) and not int(launch.kernelParams):
        raise NotLiftable(f"{name[:120]!r} was launched with a packed parameter buffer")
    return Kernel(
        code=code_digest,
        name=name,
        grid=(launch.gridDimX, launch.gridDimY, launch.gridDimZ),
        block=(launch.blockDimX, launch.blockDimY, launch.blockDimZ),
        shared_bytes=launch.sharedMemBytes,
        cluster=_cluster(node),
        cooperative=bool(_attribute(node, _ATTRIBUTE.CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative),
        arguments=_arguments(function, int(launch.kernelParams)),
    )


def _attribute(node: cu.CUgraphNode, name: cu.CUlaunchAttributeID) -> cu.CUlaunchAttributeValue:
    return call(cu.cuGraphKernelNodeGetAttribute, node, name)


def _cluster(node: cu.CUgraphNode) -> Dimensions:
    size = _attribute(node, _ATTRIBUTE.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim
    return (size.x or 1, size.y or 1, size.z or 1)


def _arguments(function: cu.CUfunction, pointers: int) -> tuple[Argument, ...]:
    """The bytes of every parameter, by the places and sizes that the driver knows of the function."""
    each = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))
    known = enumerate(parameters(function))
    return tuple(Argument(offset, ctypes.string_at(each[i], size)) for i, (offset, size) in known)


def _memset(m: cu.CUDA_MEMSET_NODE_PARAMS) -> Memset:
    return Memset(int(m.dst), m.pitch, m.value, m.elementSize, m.width, m.height)


def _memcpy(m: cu.CUDA_MEMCPY3D) -> Memcpy:
    """A plain copy of one run of bytes on the device."""
    straight = m.Height <= 1 and m.Depth <= 1 and not (m.srcY or m.srcZ or m.dstY or m.dstZ)
    if not straight or {m.srcMemoryType, m.dstMemoryType} - {_DEVICE, _UNIFIED}:
        raise NotLiftable("a copy that is not one run of bytes on the device")
    return Memcpy(int(m.srcDevice) + m.srcXInBytes, int(m.dstDevice) + m.dstXInBytes, m.WidthInBytes)


class Code:
    """Where the machine code of a function in this process is: what Triton compiled, and what was built for us."""

    def __init__(self, built: Mapping[str, bytes]) -> None:
        self._built = dict(built)

    def find(self, function: int, name: str) -> bytes | None:
        """The cubin of a driver function handle of that name, or None."""
        return self._built.get(name) or _triton_cubin(function, name)


def _triton_cubin(function: int, name: str) -> bytes | None:
    """The cubin behind a handle that Triton, or Inductor's launcher of Triton's kernels, has loaded."""
    for compiled in _triton_kernels():
        if compiled.function == function:
            asm = getattr(compiled, "asm", None)
            return bytes(asm["cubin"]) if asm else _cached(compiled.hash, name)
    return None


def _triton_kernels() -> list[Any]:
    """Every compiled kernel of this process. Inductor's own launcher keeps no code, but its key in the cache."""
    kinds = [
        getattr(sys.modules.get(module), kind, None)
        for module, kind in (
            ("triton.compiler.compiler", "CompiledKernel"),
            ("torch._inductor.runtime.static_triton_launcher", "StaticallyLaunchedCudaKernel"),
        )
    ]
    return [o for o in gc.get_objects() if type(o) in kinds]


def _cached(key: str, name: str) -> bytes | None:
    """A cubin from the caches of Triton and Inductor."""
    folder = base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")
    roots = (os.environ.get("TRITON_CACHE_DIR", ""), os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""))
    for root in filter(None, roots):
        for found in Path(root).rglob(f"{folder}/{name}.cubin"):
            return found.read_bytes()
    return None
