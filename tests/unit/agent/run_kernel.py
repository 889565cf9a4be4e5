"""Run a built kernel on stored arrays, in a process of its own: run_kernel.py LIBRARY ARRAYS RESULTS THREADS.

ARRAYS (npz) holds for each call "K/input/I", "K/parameter/I" and "K/output/I" (the last only for the shape). An
input is laid out as "K/layout" says: contiguous, transposed or sliced. RESULTS gets "K/output/I" and "K/code".
"""

import ctypes
import sys

import numpy as np


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
    )


class Arguments(ctypes.Structure):
    _fields_ = (
        ("abi_version", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("n_inputs", ctypes.c_uint32),
        ("n_parameters", ctypes.c_uint32),
        ("n_outputs", ctypes.c_uint32),
        ("inputs", ctypes.POINTER(Tensor)),
        ("parameters", ctypes.POINTER(Tensor)),
        ("outputs", ctypes.POINTER(Tensor)),
    )


def tensors(arrays):
    found = (Tensor * max(1, len(arrays)))()
    for place, a in enumerate(arrays):
        sizes = ctypes.c_int64 * max(1, a.ndim)
        found[place] = Tensor(
            a.ctypes.data, 1, a.ndim, sizes(*a.shape), sizes(*(s // 4 for s in a.strides)), a.nbytes
        )
    return found


def laid_out(a, layout):
    if layout == "transposed" and a.ndim > 1:
        return np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "sliced":
        window = np.full([n + 3 for n in a.shape], np.nan, np.float32)[
            tuple(slice(1, 1 + n) for n in a.shape)
        ]
        window[...] = a
        return window
    return a


def main(library, arrays, results, threads):
    run = ctypes.CDLL(library).kernelwright_run
    stored = np.load(arrays)
    found = {}
    for call in sorted({name.split("/")[0] for name in stored.files}):
        kinds = {kind: [] for kind in ("input", "parameter", "output")}
        for name in stored.files:
            if name.startswith(f"{call}/") and name.count("/") == 2:
                kinds[name.split("/")[1]].append(stored[name])
        inputs = [laid_out(a, str(stored[f"{call}/layout"])) for a in kinds["input"]]
        outputs = [np.full(a.shape, np.nan, np.float32) for a in kinds["output"]]
        packed = [tensors(group) for group in (inputs, kinds["parameter"], outputs)]
        counts = [len(inputs), len(kinds["parameter"]), len(outputs)]
        found[f"{call}/code"] = np.array(run(ctypes.byref(Arguments(1, int(threads), *counts, *packed))))
        found |= {f"{call}/output/{i}": a for i, a in enumerate(outputs)}
    np.savez(results, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
