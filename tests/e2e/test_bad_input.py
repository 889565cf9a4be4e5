"""What users get wrong, and what candidates do: each ends in the right verdict or a clear error, in its time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Tool

pytestmark = [pytest.mark.judge, pytest.mark.slow]

CONTRACT = """
CONTRACT = {
    "axes": {"rows": {"range": [1, 512]}, "cols": 512},
    "workloads": [{"name": "one", "axes": {"rows": 256}}],
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32", "distribution": {"kind": "normal"}}},
    "baselines": ["torch_eager"],
    "memory_bytes": 1073741824,
    "timeouts": {"load": 10.0, "warm_up": 3.0, "call": 2.0, "build": 20.0},
}
"""
GOOD = "import torch\n\n\ndef reference(x):\n    return torch.softmax(x, -1)\n" + CONTRACT
Write = Callable[[str, str | bytes], Path]

PROBLEMS = {
    "no_model": ("x = 1\n", 2, "no problem"),
    "empty": ("", 2, "empty"),
    "syntax": ("def reference(:\n" + CONTRACT, 2, "syntax"),
    "unknown_key": (GOOD.replace('"baselines"', '"baselnes"'), 2, "baselnes"),
    "impossible_shape": (GOOD.replace('"rows": 256', '"rows": 4096'), 2, "outside"),
    "raises": (GOOD.replace("torch.softmax(x, -1)", "1 / 0"), 1, "ZeroDivisionError"),
    "hangs": (GOOD.replace("    return", "    while True: pass\n    return"), 1, "longer"),
    "random": (GOOD.replace("torch.softmax(x, -1)", "x + torch.rand(())"), 1, "reproducible"),
    "nan": (GOOD.replace("torch.softmax(x, -1)", "x / torch.zeros_like(x) * 0"), 1, "finite"),
    "zeros": (GOOD.replace("torch.softmax(x, -1)", "x * 0"), 1, "zeros"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_bad_problems(name: str, tool: Tool, write: Write) -> None:
    source, code, words = PROBLEMS[name]
    run = tool("problem", "check", write(f"{name}.py", source), "--json")
    assert run.code == code, run.out + run.err
    assert words in run.out
    assert "Traceback" not in run.err


RUN = "import os, sys, torch\n\n\ndef run(x):\n    {}\n"
CANDIDATES: dict[str, tuple[str, str | bytes, set[str]]] = {
    "empty": ("py", "", {"compile_error"}),
    "binary": ("py", b"\x00\x01\x02\xff", {"compile_error"}),
    "huge": ("py", "# " + "x" * (2 << 20), {"compile_error"}),
    "syntax": ("py", "def run(x:\n", {"compile_error"}),
    "does_not_compile": ("cpp", "int kernelwright_run(nonsense", {"compile_error"}),
    "never_returns": ("py", RUN.format("while True: pass"), {"timeout"}),
    "exits_0": ("py", RUN.format("os._exit(0)"), {"runtime_error"}),
    "prints_forever": ("py", RUN.format("while True: print('x' * 1000)"), {"resource_limit"}),
    "forks": ("py", RUN.format("while True: os.fork()"), {"runtime_error", "resource_limit", "timeout"}),
    "allocates": (
        "py",
        RUN.format("a = [bytearray(1 << 28) for _ in range(1 << 20)]"),
        {"resource_limit", "runtime_error"},
    ),
    "segfaults": ("py", RUN.format("import ctypes; ctypes.string_at(1)"), {"runtime_error"}),
    "raises": ("py", RUN.format("raise RuntimeError('bad block size')"), {"runtime_error"}),
    "wrong": ("py", RUN.format("return x"), {"incorrect"}),
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_bad_candidates(name: str, tool: Tool, write: Write) -> None:
    suffix, source, verdicts = CANDIDATES[name]
    problem = write("problem.py", GOOD)
    run = tool("evaluate", problem, write(f"candidate.{suffix}", source), "--policy", "screen", "--json")
    assert run.code == 1, run.out + run.err
    assert run.json["verdict"] in verdicts
    assert run.json["reason"]
    assert run.json["speedup"] is None
    assert run.json["promotable"] is False


def test_wrong_use_says_what_to_do(tool: Tool, write: Write) -> None:
    assert tool("evaluate", "missing.py", "also_missing.py", "--json").code == 2
    problem = write("problem.py", GOOD)
    run = tool("problem", "show", problem, "--set", "rows=3", "--json")
    assert run.code == 2
    assert "rows" in run.json["error"]["message"]
    assert tool("optimize", problem, "--device", "cuda", "--json").code == 2
    assert tool("resume", "nobody", "--json").code == 2
