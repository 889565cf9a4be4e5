"""The C ABI: a compiled function sees the tensors that the judge laid out. The library here is our own."""

from __future__ import annotations

import ctypes
import gc
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest
import torch

from evaluator.harness import abi
from evaluator.harness.tensors import NAMES

SOURCE = r"""
#include "kernelwright.h"
#include <string.h>

/* Writes what it was told of every tensor, as int64, to outputs[0]. */
extern "C" int describe(const kw_args *a) {
    int64_t *to = (int64_t *)a->outputs[0].data;
    *to++ = a->abi_version; *to++ = a->threads;
    *to++ = a->n_inputs; *to++ = a->n_parameters; *to++ = a->n_outputs;
    const kw_tensor *groups[3] = {a->inputs, a->parameters, a->outputs};
    uint32_t counts[3] = {a->n_inputs, a->n_parameters, a->n_outputs};
    for (int g = 0; g < 3; g++)
        for (uint32_t i = 0; i < counts[g]; i++) {
            const kw_tensor *t = groups[g] + i;
            *to++ = t->dtype; *to++ = t->rank; *to++ = t->bytes;
            for (int d = 0; d < t->rank; d++) *to++ = t->shape[d];
            for (int d = 0; d < t->rank; d++) *to++ = t->strides[d];
        }
    return KW_ABI_VERSION == a->abi_version ? 0 : 1;
}

extern "C" int scaled(const kw_args *a) {
    const kw_tensor *x = a->inputs, *y = a->outputs;
    double by = *(const double *)a->inputs[1].data;
    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < x->shape[1]; j++)
            ((float *)y->data)[i * y->strides[0] + j] =
                by * ((const float *)x->data)[i * x->strides[0] + j * x->strides[1]];
    return 0;
}

extern "C" int refuses(const kw_args *) { return 7; }
"""
COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++ to compile a C function")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("abi")
    source, target = folder / "own.cpp", folder / "own.so"
    source.write_text(SOURCE)
    with resources.as_file(resources.files("evaluator.build") / "kernelwright.h") as header:
        command = [str(COMPILER), "-O0", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{Path(header).parent}"]
        subprocess.run([*command, str(source), "-o", str(target)], check=True)
    return ctypes.CDLL(str(target))


def test_every_tensor_is_described_as_it_is(library: ctypes.CDLL) -> None:
    x = torch.zeros(4, 6, dtype=torch.float16)[:, 1:4]
    scalar = torch.tensor(2.0, dtype=torch.float64)
    weight = torch.zeros(5, dtype=torch.bfloat16)
    told = torch.full((40,), -1, dtype=torch.int64)
    call = abi.bind(library, "describe", 3, [x, scalar], [weight], [told])
    gc.collect()
    call()
    dtypes = {name: abi.DTYPE_CODES[name] for name in ("float16", "float64", "bfloat16", "int64")}
    expected = [abi.ABI_VERSION, 3, 2, 1, 1]
    expected += [dtypes["float16"], 2, (3 * 6 + 3) * 2, 4, 3, 6, 1]
    expected += [dtypes["float64"], 0, 8]
    expected += [dtypes["bfloat16"], 1, 10, 5, 1]
    expected += [dtypes["int64"], 1, 320, 40, 1]
    assert told[: len(expected)].tolist() == expected
    assert told[len(expected) :].eq(-1).all()


def test_a_call_reads_and_writes_in_place_each_time(library: ctypes.CDLL) -> None:
    x = torch.randn(3, 4).t()
    y = torch.empty(4, 3)
    call = abi.bind(library, "scaled", 1, [x, torch.tensor(2.0, dtype=torch.float64)], [], [y])
    call()
    assert torch.equal(y, 2 * x)
    x.fill_(1.5)
    call()
    assert torch.equal(y, torch.full((4, 3), 3.0))


def test_a_return_value_other_than_zero_is_an_error(library: ctypes.CDLL) -> None:
    with pytest.raises(RuntimeError, match="refuses returned 7; 0 means success"):
        abi.bind(library, "refuses", 1, [], [], [])()


def test_an_entry_that_is_not_there_is_noticed_when_it_is_bound(library: ctypes.CDLL) -> None:
    with pytest.raises(AttributeError, match="no_such_entry"):
        abi.bind(library, "no_such_entry", 1, [], [], [])


def test_empty_tensors_have_no_bytes(library: ctypes.CDLL) -> None:
    told = torch.zeros(40, dtype=torch.int64)
    abi.bind(library, "describe", 1, [torch.empty(0, 3)], [], [told])()
    assert told[5:12].tolist() == [abi.DTYPE_CODES["float32"], 2, 0, 0, 3, 3, 1]


def test_every_dtype_has_the_code_of_the_header() -> None:
    header = (resources.files("evaluator.build") / "kernelwright.h").read_text()
    assert set(abi.DTYPE_CODES) == set(NAMES.values())
    for name, code in abi.DTYPE_CODES.items():
        assert f"KW_{name.upper()} = {code}" in header
