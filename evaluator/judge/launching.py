"""The judge's end of a launcher: a captured call laid into its process, run call by call, timed there.

Every byte that comes back is hostile: the candidate's device code runs beside our host code. What it is to blame for
raises Fault; a plan that cannot run there raises NotLifted, which says nothing about its answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TypeVar

from evaluator.device.cpu import sealed_file
from evaluator.evaluation import InfraError, Verdict
from evaluator.harness.cuda import plan
from evaluator.harness.wire import WireError, encode
from evaluator.judge.faults import Fault, of_exit
from evaluator.launcher import messages
from sandbox.api import Process, ProcessGone, SandboxProtocolError

R = TypeVar("R")
MAX_CUBIN_BYTES = 64 << 20
_LONGEST_SECONDS = 3600.0


class NotLifted(Exception):
    """The call cannot be run as data; the text says why. It may still be right, and be timed another way."""


class Launching:
    """One launcher, for one candidate. `timeout` is that of a single call, in seconds."""

    def __init__(self, process: Process, device: int, timeout: float, start_timeout: float) -> None:
        self._process = process
        self._timeout = timeout
        self._start_timeout = start_timeout
        try:
            self._ask(messages.Open(device), messages.Done, start_timeout)
        except Fault as e:
            raise InfraError(f"the launcher did not start: {e.reason}") from e

    def map(self, descriptor: int, address: int, size: int) -> None:
        """Lay device memory at an address of its range. The descriptor stays the caller's."""
        self._ask(messages.Map(address, size), messages.Done, self._start_timeout, [descriptor])

    def unmap(self) -> None:
        """Take all memory and the plan away."""
        self._ask(messages.Unmap(), messages.Done, self._start_timeout)

    def load(self, captured: plan.Plan, cubins: Sequence[bytes]) -> None:
        """Make a plan the one that runs. Raises NotLifted, Fault."""
        if sum(map(len, cubins)) > MAX_CUBIN_BYTES:
            raise NotLifted(f"its code has more than {MAX_CUBIN_BYTES >> 20} MiB")
        parts = [json.dumps(plan.write(captured)).encode(), *cubins]
        files = [sealed_file("plan", part) for part in parts]
        try:
            request = messages.Plan(tuple(map(len, parts)))
            self._ask(request, messages.Done, self._start_timeout, files)
        finally:
            for file in files:
                os.close(file)

    def run(self) -> float:
        """One call; its seconds on the device. Raises Fault where it fails or takes too long."""
        seconds = self._ask(messages.Run(), messages.Ran, self._timeout).seconds
        if not 0 < seconds < _LONGEST_SECONDS:
            raise Fault(Verdict.INTEGRITY, "the time between two events is no time")
        return seconds

    def _ask(self, message: object, reply: type[R], timeout: float, files: Sequence[int] = ()) -> R:
        try:
            self._process.channel.send(encode(message), files)
            data, descriptors = self._process.channel.receive(timeout)
            for descriptor in descriptors:
                os.close(descriptor)
            answer = messages.SCHEMA.decode(data, reply, messages.Refused, messages.Failed)
        except TimeoutError:
            self._process.kill()
            raise Fault(Verdict.TIMEOUT, f"not done on the device within {timeout:g} s") from None
        except (EOFError, BrokenPipeError, ConnectionResetError, ProcessGone):
            raise of_exit(self._process.kill(), False) from None
        except (WireError, SandboxProtocolError) as e:
            self._process.kill()
            raise Fault(Verdict.INTEGRITY, f"the launcher sent something that is no message: {e}") from None
        if isinstance(answer, messages.Refused):
            raise NotLifted(answer.text)
        if isinstance(answer, messages.Failed):
            raise Fault(Verdict.RUNTIME_ERROR, f"its device code failed: {answer.text}")
        assert isinstance(answer, reply)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
