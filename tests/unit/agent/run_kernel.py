"""Run built kernels on stored arrays, in a process of its own.

One request per line of standard input, a JSON list: library, arrays, results, threads. One line back when it is done.

The arrays (npz) hold for each call "K/input/I", "K/parameter/I" and "K/output/I" (the last only for shape and dtype).
An input is laid out as "K/layout" says: contiguous, transposed or sliced. The results get "K/output/I" and
"K/error", empty where the kernel returned 0.
"""

import ctypes
import json
import sys

import numpy as np
import torch

from evaluator.harness.abi import bind


def laid_out(tensor, layout):
    if layout == "transposed" and tensor.dim() > 1:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "sliced":
        window = torch.ones([n + 3 for n in tensor.shape], dtype=tensor.dtype)
        if tensor.is_floating_point():
            window.fill_(float("nan"))
        window = window[tuple(slice(1, 1 + n) for n in tensor.shape)]
        return window.copy_(tensor)
    return tensor


def garbage(array):
    return torch.full(array.shape, float("nan") if array.dtype == np.float32 else -1).to(
        torch.from_numpy(array).dtype
    )


def run(library, arrays, results, threads):
    loaded = ctypes.CDLL(library)
    stored = np.load(arrays)
    found = {}
    for call in sorted({name.split("/")[0] for name in stored.files}):
        kinds = {kind: [] for kind in ("input", "parameter", "output")}
        for name in stored.files:
            if name.startswith(f"{call}/") and name.count("/") == 2:
                kinds[name.split("/")[1]].append(stored[name])
        layout = str(stored[f"{call}/layout"])
        inputs = [laid_out(torch.from_numpy(a), layout) for a in kinds["input"]]
        parameters = [torch.from_numpy(a) for a in kinds["parameter"]]
        outputs = [garbage(a) for a in kinds["output"]]
        error = ""
        try:
            bind(loaded, "kernelwright_run", threads, inputs, parameters, outputs)()
        except RuntimeError as e:
            error = str(e)
        found[f"{call}/error"] = np.array(error)
        found |= {f"{call}/output/{i}": t.numpy() for i, t in enumerate(outputs)}
    np.savez(results, **found)


if __name__ == "__main__":
    for line in sys.stdin:
        run(*json.loads(line))
        print("done", flush=True)
