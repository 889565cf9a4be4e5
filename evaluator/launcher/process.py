"""The launcher's process: carries out the judge's requests until the judge hangs up."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from evaluator.harness.cuda import plan
from evaluator.harness.cuda.driver import DriverError
from evaluator.harness.wire import encode
from evaluator.launcher.launcher import Launcher
from evaluator.launcher.messages import (
    SCHEMA,
    Done,
    Failed,
    Map,
    Open,
    Plan,
    Ran,
    Refused,
    Request,
    Run,
    Unmap,
)


class Channel(Protocol):
    """The launcher's end of the channel to the judge."""

    def send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        """One message."""

    def receive(self, timeout: float | None = None) -> tuple[dict[str, object], list[int]]:
        """The next message and its descriptors."""
        ...


def main(channel: Channel) -> None:
    """Serve requests. What the driver refuses is an answer; anything else ends the process."""
    launcher: Launcher | None = None
    while True:
        try:
            message, descriptors = channel.receive(None)
        except EOFError:
            return
        request = cast("Request", SCHEMA.decode(message, Open, Map, Unmap, Plan, Run))
        reply: Done | Ran | Refused | Failed = Done()
        try:
            if isinstance(request, Open):
                launcher = Launcher(request.device)
            else:
                assert launcher is not None, "the first request opens a device"
                reply = _carry_out(launcher, request, descriptors)
        except plan.PlanError as e:
            reply = Refused(str(e))
        except DriverError as e:
            reply = Failed(str(e), e.sticky)
        channel.send(encode(reply))


def _carry_out(launcher: Launcher, request: Request, descriptors: Sequence[int]) -> Done | Ran:
    match request:
        case Map():
            launcher.map(descriptors[0], request.address, request.size)
        case Unmap():
            launcher.unmap()
        case Plan():
            text, *cubins = (_bytes(d, size) for d, size in zip(descriptors, request.sizes, strict=True))
            launcher.load(plan.read(_json(text)), cubins)
        case Run():
            return Ran(launcher.run())
    return Done()


def _json(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise plan.PlanError(f"the plan is no JSON: {e}") from e


def _bytes(descriptor: int, size: int) -> bytes:
    try:
        with mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) as mapped:
            return mapped[:]
    finally:
        os.close(descriptor)
