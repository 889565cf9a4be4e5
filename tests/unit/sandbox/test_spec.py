"""The spawn request survives its message."""

from __future__ import annotations

import json

from sandbox.api import Limits
from sandbox.spec import Bind, RootPlan, SpawnRequest


def test_a_request_is_read_back_as_it_was() -> None:
    root = RootPlan((Bind("/a", "/b"),), {"/lib": "usr/lib"}, ("/c",), 4096)
    request = SpawnRequest("m:f", 7, 8, True, ("/x",), False, (0, 1), {"A": "b"}, Limits(processes=3), root)
    message = json.loads(json.dumps(request.to_message()))
    assert SpawnRequest.from_message(message) == request
