"""A warm process in a sandbox, seen from the judge."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from sandbox import memory
from sandbox.api import EndKind, ExitStatus, Process, ProcessGone, SandboxError, Scheduling
from sandbox.channel import SocketChannel
from sandbox.kin import Namespace
from sandbox.output import BoundedOutput
from sandbox.procfs import Kin, ProcessTable
from sandbox.report import Started, exit_status

_FREEZE_SECONDS = 5.0
_KILL_SECONDS = 30.0
_SPINS = 200
_PAUSE = 0.0005
_DIED_JUST_NOW = 1.0


class Ending(Protocol):
    """Whoever learns how the first process ended."""

    def ended(self, timeout: float) -> int | None:
        """Its wait status once all of its sandbox is gone; None while it lives. Raises SandboxError."""
        ...


class Account(Protocol):
    """Whoever counts what a limit cost."""

    def oom_kills(self) -> int:
        """How many processes of the sandbox the kernel killed for want of memory."""
        ...


class LocalProcess(Process):
    """The first process of a sandbox: number 1 of its pid namespace, where it has one.

    Its status is OUT_OF_MEMORY when the kernel killed any process of its group for want of memory, unless it
    ended with exit code 0. `freeze` on a frozen process checks again that nothing runs, in about 0.1 ms.
    """

    channel: SocketChannel

    def __init__(
        self,
        started: Started,
        channel: SocketChannel,
        report: Ending,
        output: BoundedOutput,
        group: Account,
        release: Callable[[], None],
        kin: Kin | None = None,
        account: tuple[int, int] | None = None,
    ) -> None:
        """`release` is called once, when the process is gone: it frees channel, report, output and group.

        kin: which processes are its own, by default those of its pid namespace. account: its uid and gid, where the
        judge must take them on to read its memory.
        """
        self.pid = started.pid
        self.channel = channel
        self._pidfd = started.pidfd
        self._table = ProcessTable(started.table, kin or Namespace())
        self._account = account
        self._report = report
        self._output = output
        self._group = group
        self._release: Callable[[], None] | None = release
        self._status: ExitStatus | None = None

    def freeze(self) -> None:
        deadline = time.monotonic() + _FREEZE_SECONDS
        try:
            spins = 0
            while not self._try_to_freeze():
                spins += 1
                if spins > _SPINS:
                    time.sleep(_PAUSE)
                if time.monotonic() > deadline:
                    raise ProcessGone(self.kill())
        except (ProcessLookupError, FileNotFoundError):
            raise self._gone() from None

    def _try_to_freeze(self) -> bool:
        """Stopped, then alone, then still stopped. Only we can stop it, so nothing ran in between."""
        self.stop()
        if not self._table.stopped():
            self._table.kill_others()
            return False
        return self._table.kill_others() == 0 and self._table.stopped()

    def stop(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._release is None:
            raise self._gone()
        try:
            signal.pidfd_send_signal(self._pidfd, number)
        except ProcessLookupError:
            raise self._gone() from None

    def read_memory(self, spans: Sequence[tuple[int, int]]) -> bytes:
        try:
            with memory.real_ids(self._account):
                data = memory.read_spans(self.pid, spans)
        except ProcessLookupError:
            raise self._gone() from None
        self._check_alive()
        return data

    def read_memory_into(self, address: int, target: memoryview) -> None:
        try:
            with memory.real_ids(self._account):
                memory.read_into(self.pid, address, target)
        except ProcessLookupError:
            raise self._gone() from None
        self._check_alive()

    def _check_alive(self) -> None:
        """Having been alive after a reading, its pid was its own during it."""
        if self._release is None:
            raise self._gone()
        try:
            signal.pidfd_send_signal(self._pidfd, 0)
        except ProcessLookupError:
            raise self._gone() from None

    def scheduling(self) -> Scheduling:
        self._check_alive()
        try:
            return self._table.scheduling()
        except (ProcessLookupError, FileNotFoundError):
            raise self._gone() from None

    def poll(self) -> ExitStatus | None:
        return self._wait(0.0)

    def _wait(self, timeout: float, killed: bool = False) -> ExitStatus | None:
        if self._status is None:
            wait_status = self._report.ended(timeout)
            if wait_status is not None:
                self._status = self._judge_end(exit_status(wait_status), killed)
        return self._status

    def _judge_end(self, status: ExitStatus, killed: bool) -> ExitStatus:
        if status != ExitStatus(EndKind.EXITED, 0) and self._group.oom_kills():
            return ExitStatus(EndKind.OUT_OF_MEMORY, status.code)
        if killed and status == ExitStatus(EndKind.SIGNALLED, signal.SIGKILL):
            return ExitStatus(EndKind.KILLED_BY_US, signal.SIGKILL)
        return status

    def _gone(self) -> ProcessGone:
        status = self._wait(_DIED_JUST_NOW)
        return ProcessGone(status if status is not None else self.kill())

    def kill(self) -> ExitStatus:
        status = self.poll()
        if status is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            status = self._wait(_KILL_SECONDS, killed=True)
        if status is None or not self._dead():
            raise SandboxError(f"process {self.pid} does not die")
        self._free()
        return status

    def _dead(self) -> bool:
        """It is reported dead only when all of its sandbox is; but it may have been its helper that died."""
        if self._release is None:
            return True
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if not poll.poll(_KILL_SECONDS * 1000):
            return False
        deadline = time.monotonic() + _KILL_SECONDS
        while self._table.kill_others():
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        return True

    def _free(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            self._table.close()
            os.close(self._pidfd)
            release()

    @property
    def gone(self) -> bool:
        """Whether everything of it has been freed."""
        return self._release is None

    def output(self) -> tuple[bytes, bool]:
        return self._output.read()
