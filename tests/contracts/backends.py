"""The sandbox backends that the conformance suite runs against, by name.

A new backend is one entry here. `marks` go to each of its checks (a backend that `make test` must leave out).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from sandbox.api import Sandbox, Tier
from sandbox.docker import DockerSandbox
from sandbox.local import LocalSandbox


@dataclass(frozen=True)
class Backend:
    """How to make one; `make` is also called in another process, which is killed."""

    make: Callable[[], Sandbox]
    marks: tuple[pytest.MarkDecorator, ...] = ()


BACKENDS: dict[str, Backend] = {
    "docker": Backend(DockerSandbox, marks=(pytest.mark.docker,)),
    "namespaces": Backend(LocalSandbox),
    "restricted": Backend(partial(LocalSandbox, Tier.RESTRICTED)),
}
