"""Options of torch.compile that matter on a CPU and that a user seldom tries, each with the problems it can help.

All are Inductor's own (`torch._inductor.config`), as torch 2.11 to 2.13 have them. Those of the mode max-autotune
alone are a baseline already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.api import View

PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")
CONVOLUTIONS = ("convolution",)
MOVES = ("permute", "transpose", "t")
MANY_NODES = 8

CONTRACT = {"cpp.enable_floating_point_contract_flag": "fast"}


@dataclass(frozen=True)
class Traits:
    """What of a problem decides which options can matter.

    operations: the traced operations ("addmm"), as often as they occur; None where the reference cannot be traced,
    and then anything may matter.
    """

    operations: tuple[str, ...] | None
    parameters: bool
    workloads: int
    threads: int

    def count(self, *names: str) -> int:
        """How often any of these operations occurs; many times where that is not known."""
        if self.operations is None:
            return MANY_NODES
        return sum(operation in names for operation in self.operations)


def traits(view: View) -> Traits:
    """Those of a view, from the graph of its first workload."""
    graph = next(iter(view.graphs.values()), None)
    return Traits(
        operations=None if graph is None else tuple(n.op.split(".")[1] for n in graph.nodes if "." in n.op),
        parameters=graph is None or bool(graph.parameters),
        workloads=len(view.problem.contract.workloads),
        threads=view.threads,
    )


def always(_: Traits) -> bool:
    """For every problem."""
    return True


@dataclass(frozen=True)
class Variant:
    """A set of options, the idea behind it, and whether a problem can profit. dynamic: compile once for all sizes."""

    idea: str
    options: Mapping[str, object]
    fits: Callable[[Traits], bool] = always
    dynamic: bool = False


def _is_long(found: Traits) -> bool:
    return found.operations is None or len(found.operations) >= MANY_NODES


VARIANTS = (
    Variant("multiply and add contracted", CONTRACT),
    Variant(
        "kernels for products chosen by trying, multiply and add contracted",
        {"max_autotune": True, **CONTRACT},
        lambda t: t.count(*PRODUCTS, *CONVOLUTIONS) > 0,
    ),
    Variant(
        "weights folded in as constants and packed for the products",
        {"freezing": True, **CONTRACT},
        lambda t: t.parameters,
    ),
    Variant("vectors of 256 bits", {"cpp.simdlen": 256}),
    Variant("host code in C++ as well", {"cpp_wrapper": True}),
    Variant(
        "weights as constants, kernels for products chosen by trying",
        {"freezing": True, "max_autotune": True},
        lambda t: t.parameters and t.count(*PRODUCTS, *CONVOLUTIONS) > 0,
    ),
    Variant(
        "no checks of sizes and strides",
        {"size_asserts": False, "alignment_asserts": False, "scalar_asserts": False},
    ),
    Variant("arithmetic reassociated", {"cpp.enable_unsafe_math_opt_flag": True}),
    Variant(
        "values computed again rather than stored",
        {"realize_reads_threshold": 32, "realize_opcount_threshold": 200, "realize_acc_reads_threshold": 48},
        _is_long,
    ),
    Variant("kernels inlined", {"cpp.force_inline_kernel": True}),
    Variant(
        "tanh by exponentials",
        {"cpp.use_decompose_tanh": True},
        lambda t: t.count("tanh", "gelu", "mish") > 0,
    ),
    Variant(
        "loops as the tiling heuristic would not have them",
        {"cpp.enable_tiling_heuristics": False},
        lambda t: t.count(*MOVES) > 0,
    ),
    Variant("rests of loops without masks", {"cpp.enable_loop_tail_vec": False}),
    Variant(
        "softmax in two passes",
        {"online_softmax": False},
        lambda t: t.count("_softmax", "_log_softmax", "amax") > 0,
    ),
    Variant(
        "convolutions of width one as products",
        {"conv_1x1_as_mm": True, "freezing": True},
        lambda t: t.count(*CONVOLUTIONS) > 0,
    ),
    Variant(
        "convolutions with channels last",
        {"force_layout_optimization": True, "freezing": True},
        lambda t: t.count(*CONVOLUTIONS) > 0,
    ),
    Variant(
        "products of one input as one product",
        {"freezing": True, "cpp.enable_concat_linear": True},
        lambda t: t.parameters and t.count(*PRODUCTS) > 1,
    ),
    Variant(
        "several products in one kernel",
        {"freezing": True, "max_autotune": True, "cpp.enable_grouped_gemm_template": True},
        lambda t: t.parameters and t.count(*PRODUCTS) > 1,
    ),
    Variant(
        "products cut along the summed dimension",
        {"max_autotune": True, "cpp.gemm_max_k_slices": 0},
        lambda t: t.threads > 1 and t.count(*PRODUCTS) > 0,
    ),
    Variant("smaller shares for threads", {"cpp.min_chunk_size": 64}, lambda t: t.threads > 1),
    Variant(
        "nothing fused behind the products",
        {"max_autotune": True, "epilogue_fusion": False},
        lambda t: t.count(*PRODUCTS) > 0,
    ),
    Variant("buffers planned together", {"memory_planning": True}, _is_long),
    Variant("one code for all sizes", {}, lambda t: t.workloads > 1, dynamic=True),
)
"""In order of promise."""
