"""A plan comes from a runner: what is not exactly one is refused."""

import copy

import pytest

from evaluator.harness.cuda.plan import (
    Argument,
    Empty,
    Kernel,
    Memcpy,
    Memset,
    Plan,
    PlanError,
    read,
    write,
)

KERNEL = Kernel(
    code="0" * 64,
    name="_Z4softPfS_i",
    grid=(256, 1, 1),
    block=(128, 1, 1),
    shared_bytes=1024,
    cluster=(1, 1, 1),
    cooperative=False,
    arguments=(Argument(0, b"\x00\x00\x00\x00\x00Z\x00\x00"), Argument(8, b"\x04\x00\x00\x00")),
)
PLAN = Plan((KERNEL, Memset(64, 0, 0, 4, 16, 1), Memcpy(64, 128, 32), Empty()), ((0, 1), (1, 2), (1, 3)))


def test_what_was_written_is_read():
    assert read(write(PLAN)) == PLAN


def changed(path, value):
    data = copy.deepcopy(write(PLAN))
    *way, last = path
    place = data
    for step in way:
        place = place[step]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("nodes",), []),
        (("nodes",), "Kernel"),
        (("nodes", 0, "kind"), "Host"),
        (("nodes", 0, "kind"), ["Kernel"]),
        (("nodes", 0, "code"), "../../etc/passwd"),
        (("nodes", 0, "name"), "soft max"),
        (("nodes", 0, "name"), ""),
        (("nodes", 0, "grid"), [0, 1, 1]),
        (("nodes", 0, "grid"), [1, 1]),
        (("nodes", 0, "block"), [-1, 1, 1]),
        (("nodes", 0, "block"), [True, 1, 1]),
        (("nodes", 0, "shared_bytes"), 1.5),
        (("nodes", 0, "shared_bytes"), 1 << 64),
        (("nodes", 0, "cooperative"), 1),
        (("nodes", 0, "arguments", 0), [0, "xyz"]),
        (("nodes", 0, "arguments", 0), [0, "abc"]),
        (("nodes", 0, "arguments", 0), [0, ""]),
        (("nodes", 0, "arguments", 1), [4, "00000000"]),
        (("nodes", 0, "arguments", 1), [8, "00" * 4096]),
        (("nodes", 0, "extra"), 1),
        (("nodes", 2, "size"), None),
        (("edges", 0), [0, 4]),
        (("edges", 0), [1, 1]),
        (("edges", 0), [0, 1, 2]),
        (("edges",), [[0, 1]] * 20000),
        (("more",), 1),
    ],
)
def test_anything_else_is_refused(path, value):
    with pytest.raises(PlanError):
        read(changed(path, value))


@pytest.mark.parametrize("data", [None, [], "plan", 1, {}, {"nodes": []}])
def test_what_is_no_object_of_the_form_is_refused(data):
    with pytest.raises(PlanError):
        read(data)
