"""A plan rebuilt as a CUDA graph of this process."""

from __future__ import annotations

import ctypes

from cuda.bindings import driver as cu

from evaluator.harness.cuda.driver import DriverError, call, parameters
from evaluator.harness.cuda.plan import Empty, Kernel, Memcpy, Memset, Node, Plan, PlanError, digest

_ATTRIBUTE = cu.CUlaunchAttributeID
_FUNCTION = cu.CUfunction_attribute
_STATIC_LIMIT = 48 << 10
"""Bytes of dynamic shared memory above which a function must be allowed it."""


class Modules:
    """Cubins loaded into this process, by the digest of their bytes."""

    def __init__(self) -> None:
        self._modules: dict[str, cu.CUmodule] = {}

    def add(self, cubin: bytes) -> str:
        """Load a cubin; its digest. Raises PlanError where the driver does not take it."""
        code = digest(cubin)
        if code not in self._modules:
            try:
                self._modules[code] = call(cu.cuModuleLoadData, cubin)
            except DriverError as e:
                raise PlanError(f"the driver does not load its code: {e.code}") from e
        return code

    def function(self, kernel: Kernel) -> cu.CUfunction:
        """The function of a kernel node, allowed the shared memory that the node asks for. Raises PlanError."""
        if kernel.code not in self._modules:
            raise PlanError("a kernel names code that was not sent")
        try:
            function = call(cu.cuModuleGetFunction, self._modules[kernel.code], kernel.name.encode())
            if kernel.shared_bytes > _STATIC_LIMIT:
                limit = _FUNCTION.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                call(cu.cuFuncSetAttribute, function, limit, kernel.shared_bytes)
            if kernel.cluster != (1, 1, 1):
                wide = _FUNCTION.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
                call(cu.cuFuncSetAttribute, function, wide, 1)
        except DriverError as e:
            raise PlanError(f"{kernel.name[:120]!r} cannot be launched as planned: {e}") from e
        return function


class Replay:
    """An executable graph of a plan."""

    def __init__(self, plan: Plan, modules: Modules, context: cu.CUcontext) -> None:
        self._graph = call(cu.cuGraphCreate, 0)
        self._kept: list[object] = []
        self._context = context
        try:
            nodes = [self._add(n, modules) for n in plan.nodes]
            if plan.edges:
                before = [nodes[b] for b, _ in plan.edges]
                after = [nodes[a] for _, a in plan.edges]
                call(cu.cuGraphAddDependencies, self._graph, before, after, None, len(plan.edges))
            self.executable = call(cu.cuGraphInstantiate, self._graph, 0)
        except DriverError as e:
            raise PlanError(f"the plan is no graph that can run: {e}") from e

    def _add(self, node: Node, modules: Modules) -> cu.CUgraphNode:
        match node:
            case Kernel():
                return self._kernel(node, modules)
            case Memset():
                return call(cu.cuGraphAddMemsetNode, self._graph, None, 0, _memset(node), self._context)
            case Memcpy():
                return call(cu.cuGraphAddMemcpyNode, self._graph, None, 0, _memcpy(node), self._context)
            case Empty():
                return call(cu.cuGraphAddEmptyNode, self._graph, None, 0)

    def _kernel(self, kernel: Kernel, modules: Modules) -> cu.CUgraphNode:
        function = modules.function(kernel)
        launch = cu.CUDA_KERNEL_NODE_PARAMS()
        launch.func = function
        launch.gridDimX, launch.gridDimY, launch.gridDimZ = kernel.grid
        launch.blockDimX, launch.blockDimY, launch.blockDimZ = kernel.block
        launch.sharedMemBytes = kernel.shared_bytes
        launch.kernelParams = self._parameters(kernel, function)
        node = call(cu.cuGraphAddKernelNode, self._graph, None, 0, launch)
        if kernel.cluster != (1, 1, 1):
            value = cu.CUlaunchAttributeValue()
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = kernel.cluster
            name = _ATTRIBUTE.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            call(cu.cuGraphKernelNodeSetAttribute, node, name, value)
        if kernel.cooperative:
            value = cu.CUlaunchAttributeValue()
            value.cooperative = 1
            name = _ATTRIBUTE.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            call(cu.cuGraphKernelNodeSetAttribute, node, name, value)
        return node

    def _parameters(self, kernel: Kernel, function: cu.CUfunction) -> int:
        """The address of pointers to the arguments' bytes, which must be exactly those that the function takes."""
        wanted = parameters(function)
        given = [(a.offset, len(a.value)) for a in kernel.arguments]
        if wanted != given:
            raise PlanError(f"{kernel.name[:120]!r} takes other arguments than the plan gives")
        values = [ctypes.create_string_buffer(a.value, len(a.value)) for a in kernel.arguments]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(v) for v in values])
        self._kept += [values, pointers]
        return ctypes.addressof(pointers)


def _memset(node: Memset) -> cu.CUDA_MEMSET_NODE_PARAMS:
    params = cu.CUDA_MEMSET_NODE_PARAMS()
    params.dst, params.pitch, params.value = node.address, node.pitch, node.value
    params.elementSize, params.width, params.height = node.element_size, node.width, node.height
    return params


def _memcpy(node: Memcpy) -> cu.CUDA_MEMCPY3D:
    params = cu.CUDA_MEMCPY3D()
    params.srcMemoryType = params.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    params.srcDevice, params.dstDevice = node.source, node.target
    params.WidthInBytes, params.Height, params.Depth = node.size, 1, 1
    return params
