"""Candidates that compile at import: built in a sandbox, loaded in a runner that does not build."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Iterator

import pytest

from evaluator.build.builder import Builder
from evaluator.build.cache import BuildCache
from evaluator.build.generated import Example
from evaluator.build.tools import python_environment, search_path
from evaluator.device.cpu import sealed_file
from evaluator.harness.wire import Done, Failed, Load, decode, encode
from evaluator.problem.candidate import Candidate, Language
from evaluator.problem.contract import Contract, Problem, Reference, ReferenceStyle, Workload
from sandbox.api import Profile, Sandbox, SandboxUnavailable, Zygote
from sandbox.local import LocalSandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        shutil.which("g++") is None or shutil.which("ninja", path=search_path()) is None,
        reason="needs g++ and ninja",
    ),
]

SOURCE = """
import ctypes
import os
from torch.utils.cpp_extension import load_inline

path = load_inline(
    "ext",
    'extern "C" int f(int x) {{ return x {change}; }}',
    no_implicit_headers=True,
    is_python_module=False,
)
file = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "ext", "ext.so")
print("built at", int(os.stat(file).st_mtime), ctypes.CDLL(file).f(1), flush=True)


def run(x):
    return x
"""
"""Without torch's headers, which take a compiler half a minute."""


def candidate(text: str) -> Candidate:
    return Candidate({"candidate.py": text}, Language.PYTHON)


@pytest.fixture(scope="module")
def local() -> Iterator[Sandbox]:
    sandbox = LocalSandbox()
    try:
        sandbox.guarantees()
    except SandboxUnavailable as e:
        pytest.skip(f"this host cannot isolate foreign code: {e}")
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module")
def zygote(local: Sandbox) -> Zygote:
    return local.zygote(("torch", "evaluator.harness.runner"))


@pytest.fixture(scope="module")
def builder(local: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(local, BuildCache(tmp_path_factory.mktemp("builds")), [0])


def loaded(zygote: Zygote, source: Candidate, product: bytes, states: int = 0) -> str:
    """What the candidate prints when a runner imports it. states: how many tensors of state there are."""
    process = zygote.spawn("evaluator.harness.runner:main", Profile(environment=python_environment(1)))
    try:
        request = Load(dict(source.files), "candidate.py", "run", "functional", False, 1, 1, states, 1)
        process.channel.send(encode(request), [sealed_file("product", product)])
        message, _ = process.channel.receive(120.0)
        answer = decode(message, Done, Failed)
        assert isinstance(answer, Done), answer
        return process.output()[0].decode()
    finally:
        process.kill()


def test_names_that_clash_are_each_their_own_and_runners_do_not_build(
    builder: Builder, zygote: Zygote
) -> None:
    for change, result in (("* 2", "2"), ("+ 100", "101")):
        source = candidate(SOURCE.format(change=change))
        built = builder.imported(source, 300.0)
        assert built is not None
        assert built.product is not None, built.output
        with tarfile.open(fileobj=io.BytesIO(built.product)) as archive:
            times = {entry.name: int(entry.mtime) for entry in archive}
        printed = loaded(zygote, source, built.product)
        assert printed.split()[-2:] == [str(times["extensions/ext/ext.so"]), result]


def test_an_extension_that_does_not_compile_says_where(builder: Builder) -> None:
    built = builder.imported(candidate(SOURCE.format(change="* nothing")), 300.0)
    assert built is not None
    assert built.product is None
    assert "nothing" in built.complaint
    assert built.diagnostics[0].file.endswith("main.cpp")


def test_a_build_that_was_killed_leaves_nothing_in_the_way(builder: Builder) -> None:
    """The first is stopped in the middle of its build, holding torch's lock; the second has the same name."""
    endless = SOURCE.format(change="* 3").replace("path = ", 'os.mkfifo("/tmp/endless.h")\npath = ')
    endless = endless.replace("'extern", '\'#include "/tmp/endless.h"\\nextern')
    late = builder.imported(candidate(endless), 15.0)
    assert late is not None
    assert late.timed_out
    again = builder.imported(candidate(SOURCE.format(change="* 3")), 300.0)
    assert again is not None
    assert again.product is not None, again.output


def test_a_candidate_cannot_hand_over_what_it_did_not_come_to_the_end_of(builder: Builder) -> None:
    early = candidate("# cpp_extension\nimport os\nos._exit(0)\n")
    built = builder.imported(early, 60.0)
    assert built is not None
    assert built.product is None


def generated(builder: Builder, dynamic: bool) -> Candidate:
    source = """
import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return torch.softmax(x * self.weight, -1) * 2
"""
    problem = Problem(
        Contract("soft", (Workload("w", {}),)), Reference(source, "Model", ReferenceStyle.MODULE)
    )
    found = builder.generated(problem, "[8]", [Example((4, 8), (8, 1), "float32")], dynamic, 300.0)
    assert found is not None
    return found


@pytest.mark.parametrize(("dynamic", "rows"), [(False, 4), (True, 4), (True, 3)])
def test_generated_code_stands_on_its_own_and_is_built_once(
    builder: Builder, zygote: Zygote, dynamic: bool, rows: int
) -> None:
    code = generated(builder, dynamic).main
    assert "Model" not in code
    source = candidate(f"{code}\nprint(run(torch.ones({rows}, 8), torch.ones(8)).sum().item(), flush=True)\n")
    built = builder.imported(source, 300.0)
    assert built is not None
    assert built.product is not None, built.output
    with tarfile.open(fileobj=io.BytesIO(built.product)) as archive:
        names = archive.getnames()
    assert any(name.startswith("inductor/") and name.endswith(".so") for name in names)
    assert not any(name.endswith((".gch", ".lock")) for name in names)
    printed = loaded(zygote, source, built.product, states=1)
    assert float(printed.split()[-1]) == pytest.approx(2.0 * rows)
