"""The judge's end of a runner: requests over the channel, released calls over the shared page.

Every byte that comes back is hostile. What the foreign code is to blame for raises Fault; what the machinery is
to blame for comes through as it is (SandboxError, OSError), and the session makes InfraError of it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TypeVar

from evaluator.device.cpu import SharedMemory
from evaluator.device.priority import ordinary, real_time
from evaluator.evaluation import OutOfTime, Verdict
from evaluator.harness import page
from evaluator.harness.wire import Done, Failed, Outcome, Serve, WireError, decode, encode
from evaluator.judge.deadline import Deadline
from evaluator.judge.defences import Defences
from evaluator.judge.faults import OUTPUT_FULL, Fault, of_exit, of_failure
from sandbox.api import Process, ProcessGone, SandboxError, SandboxProtocolError, Scheduling

R = TypeVar("R")
EXIT_GRACE = 2.0
SPINS_PER_LOOK = 4096
REMEMBERED_OUTCOMES = 8
LEISURE = 0.05
"""Seconds that a cheat has for its work where the defence against it is off."""


@dataclass(frozen=True)
class Released:
    """One released call: its time, what it told of its outputs, what was sampled, whether others disturbed it, and
    how many pages the kernel had to provide for it."""

    nanoseconds: int
    outcome: Outcome
    sample: list[bytes]
    disturbed: bool
    faults: int = 0


Sampler = Callable[[Outcome], list[bytes]]


class RunnerClient:
    """One runner. Requests are answered one at a time; while serving, only calls are.

    Everything that waits for the runner raises OutOfTime once the deadline has passed. It has `cores` to run on.
    `settle_down` is called before each release that is timed.
    """

    def __init__(
        self,
        process: Process,
        defences: Defences,
        deadline: Deadline | None = None,
        cores: int = 1,
        settle_down: Callable[[], None] = lambda: None,
    ) -> None:
        self.process = process
        self._cores = cores
        self._settle_down = settle_down
        self._defences = defences
        self._deadline = deadline or Deadline()
        self._page = SharedMemory("page", page.PAGE_BYTES)
        self._words = self._page.view().cast("Q")
        self._text = self._page.view()[page.TEXT :]
        self._number = 0
        self._serving = False
        self._outcomes: dict[bytes, Outcome] = {}

    def request(self, message: object, reply: type[R], timeout: float, descriptors: Sequence[int] = ()) -> R:
        """Send a request and wait for its reply. Raises Fault."""
        self.leave(timeout)
        return self._ask(message, reply, timeout, descriptors)

    def _ask(self, message: object, reply: type[R], timeout: float, descriptors: Sequence[int]) -> R:
        try:
            self.process.channel.send(encode(message), descriptors)
            return self._reply(reply, timeout)
        except TimeoutError:
            self.process.kill()
            self._deadline.check()
            name = type(message).__name__.lower()
            raise Fault(Verdict.TIMEOUT, f"no answer to {name!r} within {timeout:g} s") from None
        except (EOFError, BrokenPipeError, ConnectionResetError, ProcessGone):
            raise self._ended() from None
        except (WireError, SandboxProtocolError) as e:
            self.process.kill()
            raise Fault(Verdict.INTEGRITY, f"the runner sent something that is no message: {e}") from None

    def _reply(self, reply: type[R], timeout: float) -> R:
        data, descriptors = self.process.channel.receive(self._deadline.within(timeout))
        if descriptors:
            for descriptor in descriptors:
                os.close(descriptor)
            raise WireError("a reply brought descriptors")
        if data.get("t") == Failed.__name__:
            raise self._failed(decode(data, Failed))
        return decode(data, reply)

    def _failed(self, failed: Failed) -> Fault:
        """The fault of code that raised; writing to a full output raises too."""
        if self.process.output()[1]:
            return Fault(Verdict.RESOURCE_LIMIT, OUTPUT_FULL, failed.text)
        return of_failure(failed)

    def _ended(self) -> Fault:
        """The fault of a process that is gone, once it is known how it ended."""
        deadline = time.monotonic() + EXIT_GRACE
        while (status := self.process.poll()) is None:
            if time.monotonic() > deadline:
                self.process.kill()
                return Fault(Verdict.RUNTIME_ERROR, "the process closed its channel instead of answering")
            time.sleep(0.001)
        return of_exit(status, self.process.output()[1])

    def call(
        self,
        binding: int,
        prepare: Callable[[], None],
        sampler: Sampler,
        timeout: float,
        urgent: bool = True,
    ) -> Released:
        """One released call of a binding: freeze, `prepare` (fill memory), clock, thaw, done, stop, sample, clock.

        `sampler` reads the sample inside the clock. `urgent`: at real-time priority. Raises Fault; the process is
        frozen when this returns.
        """
        try:
            return self._call(binding, prepare, sampler, timeout, urgent)
        except ProcessGone:
            raise self._ended() from None

    def _call(
        self, binding: int, prepare: Callable[[], None], sampler: Sampler, timeout: float, urgent: bool
    ) -> Released:
        timeout = self._deadline.within(timeout)
        self._enter()
        self._prepare(prepare)
        self._number += 1
        self._words[page.BINDING] = binding
        if urgent:
            self._settle_down()
        with real_time(self.process.pid) if urgent else nullcontext():
            before, own_wait = self.process.scheduling(), _own_wait()
            try:
                elapsed, outcome, sample = self._clocked(sampler, timeout)
            except (Fault, SandboxError, OutOfTime):
                self._hold()
                raise
            self.process.freeze()
            after = self.process.scheduling()
            waited = waited_for_others(before, after, elapsed, self._cores) + _own_wait() - own_wait
            disturbed = waited > max(RUN_DELAY_NS, int(RUN_DELAY_SHARE * elapsed))
        return Released(elapsed, outcome, sample, disturbed, after.minor_faults - before.minor_faults)

    def _hold(self) -> None:
        """Freeze a runner whose call failed, if it lives: waiting for the next one, it would keep a core busy."""
        with suppress(ProcessGone):
            self.process.freeze()

    def _clocked(self, sampler: Sampler, timeout: float) -> tuple[int, Outcome, list[bytes]]:
        """Nanoseconds from the release of a prepared call to the end of the sample, and what was read."""
        start = time.perf_counter_ns()
        self._words[page.GO] = self._number
        self.process.thaw()
        self._await_done(start + int(timeout * 1e9), timeout)
        if not self._defences.sample_inside_clock:
            elapsed = time.perf_counter_ns() - start
            ordinary(self.process.pid)  # else late work would never get the core
            time.sleep(LEISURE)
            outcome = self._outcome()
            return elapsed, outcome, sampler(outcome)
        self.process.stop()  # else work could go on, uncounted, while we read
        outcome = self._outcome()
        sample = sampler(outcome)
        return time.perf_counter_ns() - start, outcome, sample

    def _prepare(self, prepare: Callable[[], None]) -> None:
        if self._defences.frozen_while_filled:
            self.process.freeze()
            prepare()
            return
        self.process.thaw()
        prepare()
        time.sleep(LEISURE)

    def _await_done(self, deadline: int, timeout: float) -> None:
        words, number, spins = self._words, self._number, 0
        while words[page.DONE] != number:
            spins += 1
            if spins % SPINS_PER_LOOK:
                continue
            if self.process.poll() is not None:
                raise self._ended()
            if time.perf_counter_ns() > deadline:
                self.process.kill()
                self._deadline.check()
                raise Fault(Verdict.TIMEOUT, f"a call took longer than {timeout:g} s")

    def _outcome(self) -> Outcome:
        length = self._words[page.LENGTH]
        try:
            if length > page.TEXT_BYTES:
                raise WireError("the outcome is longer than the page")
            text = bytes(self._text[:length])
            if self._words[page.STATUS] == page.RAISED:
                raise self._failed(decode(json.loads(text), Failed))
            return self._outcomes.get(text) or self._new_outcome(text)
        except (WireError, ValueError, RecursionError) as e:
            raise Fault(
                Verdict.INTEGRITY, f"the runner described its outputs in no known form: {e}"
            ) from None

    def _new_outcome(self, text: bytes) -> Outcome:
        """Read a description that differs from those remembered: the same tensors come again and again."""
        if len(self._outcomes) >= REMEMBERED_OUTCOMES:
            self._outcomes.clear()
        outcome = self._outcomes[text] = decode(json.loads(text), Outcome)
        return outcome

    def _enter(self) -> None:
        if self._serving:
            return
        self._words[page.GO] = self._number
        self._words[page.DONE] = self._number
        try:
            self.process.channel.send(encode(Serve()), [self._page.descriptor])
        except (EOFError, OSError):
            raise self._ended() from None
        self._serving = True

    def leave(self, timeout: float) -> tuple[str, ...]:
        """Stop serving; names of functions that the runner's process says were tampered with."""
        if not self._serving:
            return ()
        self._serving = False
        self._words[page.GO] = page.LEAVE
        try:
            self.process.thaw()
        except ProcessGone:
            raise self._ended() from None
        return self._await_left(timeout)

    def _await_left(self, timeout: float) -> tuple[str, ...]:
        try:
            return self._reply(Done, timeout).tampered
        except TimeoutError:
            self.process.kill()
            self._deadline.check()
            raise Fault(Verdict.TIMEOUT, f"did not stop serving within {timeout:g} s") from None
        except (EOFError, ConnectionResetError):
            raise self._ended() from None
        except (WireError, SandboxProtocolError) as e:
            raise Fault(Verdict.INTEGRITY, f"the runner sent something that is no message: {e}") from None

    def close(self) -> None:
        """End the process and free the page."""
        self.process.kill()
        self._words.release()
        self._text.release()
        self._page.close()


RUN_DELAY_SHARE = 0.02
RUN_DELAY_NS = 50_000


def waited_for_others(before: Scheduling, after: Scheduling, elapsed: int, cores: int) -> int:
    """Nanoseconds that threads of the process waited for a core which somebody else had.

    While its own threads keep all its `cores` busy, whoever of them waits does so for a sibling: every thread wakes
    with the process, if only to sleep on.
    """
    free = elapsed * cores - (after.running_ns - before.running_ns)
    return max(0, min(after.run_delay_ns - before.run_delay_ns, free))


def _own_wait() -> int:
    """Nanoseconds that this thread waited for its core so far. The kernel's own threads may take it for a moment."""
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1])
