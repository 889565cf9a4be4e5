"""A second thread says that the call is done and goes on working on the only core, so that nothing can stop it.

incident: own
problem: softmax
verdict: incorrect | integrity
defence: sample_inside_clock
"""

import json
import mmap
import threading
import types

import torch

from evaluator.harness import runner

GO, DONE, STATUS, LENGTH, TEXT = 0, 1, 2, 3, 64
pages: list[memoryview] = []


def keep(descriptor, size):
    mapped = mmap.mmap(descriptor, size)
    pages.append(memoryview(mapped))
    return mapped


vars(runner)["mmap"] = types.SimpleNamespace(mmap=keep)
buffers = [torch.empty(256, 1024) for _ in range(8)]
calls: list[int] = []


def described(out):
    located = {"t": "Located", "address": out.data_ptr(), "shape": list(out.shape), "dtype": "float32"}
    located |= {"strides": list(out.stride()), "exact": True}
    return json.dumps({"t": "Outcome", "outputs": [located]}).encode()


texts = [described(out) for out in buffers]


def work(x, turn):
    out, text, page = buffers[turn], texts[turn], pages[-1]
    words, half = page.cast("Q"), x.shape[0] // 2
    page[TEXT : TEXT + len(text)] = text
    words[STATUS], words[LENGTH] = 0, len(text)
    torch.softmax(x[:half], dim=-1, out=out[:half])
    words[DONE] = words[GO]
    torch.softmax(x[half:], dim=-1, out=out[half:])


def run(x):
    if x.shape != buffers[0].shape:
        return torch.softmax(x, dim=-1)
    calls.append(1)
    turn = len(calls) % len(buffers)
    helper = threading.Thread(target=work, args=(x, turn))
    helper.start()
    helper.join()
    return buffers[turn]
