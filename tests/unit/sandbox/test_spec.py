"""The spawn request survives its message."""

from __future__ import annotations

import json

import pytest

from sandbox.api import Limits
from sandbox.spec import Bind, RootPlan, SpawnRequest, View


def request(root: RootPlan | None) -> SpawnRequest:
    return SpawnRequest(
        entry="m:f",
        uid=7,
        gid=8,
        drop=True,
        cgroups=("/x",),
        bound_address_space=False,
        cores=(0, 1),
        environment={"A": "b"},
        limits=Limits(processes=3),
        view=View(("/usr",), ("/opt",), ("/tmp",), ("/dev/null",)),
        root=root,
    )


@pytest.mark.parametrize("root", [None, RootPlan((Bind("/a", "/b"),), {"/lib": "usr/lib"}, ("/c",), 4096)])
def test_a_request_is_read_back_as_it_was(root: RootPlan | None) -> None:
    sent = request(root)
    assert SpawnRequest.from_message(json.loads(json.dumps(sent.to_message()))) == sent
