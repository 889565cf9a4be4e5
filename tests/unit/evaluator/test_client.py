"""The judge's end of a runner, against one that plays by a script: every way of answering wrongly has its verdict."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluator.evaluation import OutOfTime, Verdict
from evaluator.harness.page import TEXT_BYTES
from evaluator.harness.wire import Done, Located, Matched, Outcome, Unbind, encode
from evaluator.judge.client import RunnerClient, waited_for_others
from evaluator.judge.deadline import Deadline
from evaluator.judge.defences import Defences
from evaluator.judge.faults import Fault
from sandbox.api import EndKind, ExitStatus, Process, ProcessGone, Scheduling
from sandbox.channel import SocketChannel
from sandbox.memory import read_into, read_spans

SCRIPT = Path(__file__).parent / "scripted_runner.py"
OUTPUTS = Outcome((Located(4096, (2,), (1,), "float32", True),))
RIGHT = {"text": json.dumps(encode(OUTPUTS))}
DONE = {"reply": encode(Done((), "functional"))}
FAILED = {"t": "Failed", "kind": "ValueError", "text": "Traceback\nValueError: so it is"}


class ScriptedProcess(Process):
    """A child of the test that runs the script, without a sandbox: it is our own code."""

    def __init__(self, steps: Sequence[object]) -> None:
        self.channel, theirs = SocketChannel.pair()
        with theirs:
            command = [sys.executable, "-S", "-E", str(SCRIPT), str(theirs.fileno()), json.dumps(steps)]
            self.child = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        self.pid = self.child.pid
        self.killed = False
        self.run_delay_ns = 0
        self.running_ns = 0
        self.full = False

    def freeze(self) -> None:
        self.stop()
        while self._state() not in "TtZX":
            time.sleep(0.0005)
        if self.poll() is not None:
            raise ProcessGone(self.kill())

    def stop(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.poll() is not None:
            raise ProcessGone(self.kill())
        os.kill(self.pid, number)

    def _state(self) -> str:
        return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def read_memory(self, spans: Sequence[tuple[int, int]]) -> bytes:
        return read_spans(self.pid, spans)

    def read_memory_into(self, address: int, target: memoryview) -> None:
        read_into(self.pid, address, target)

    def scheduling(self) -> Scheduling:
        return Scheduling(self.run_delay_ns, 0, self.running_ns)

    def poll(self) -> ExitStatus | None:
        code = self.child.poll()
        if code is None:
            return None
        if self.killed:
            return ExitStatus(EndKind.KILLED_BY_US)
        return ExitStatus(EndKind.EXITED, code) if code >= 0 else ExitStatus(EndKind.SIGNALLED, -code)

    def kill(self) -> ExitStatus:
        if self.child.poll() is None:
            self.killed = True
            self.child.kill()
            self.child.wait()
        status = self.poll()
        assert status is not None
        return status

    def output(self) -> tuple[bytes, bool]:
        return b"", self.full


@pytest.fixture
def started():
    """Starts clients of scripted runners, and ends them."""
    clients = []

    def start(*steps, defences=None, deadline=None):
        client = RunnerClient(ScriptedProcess(steps), defences or Defences(), deadline)
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.close()
        client.process.channel.close()


def ask(client, reply=Done, timeout=20.0):
    return client.request(Unbind(1), reply, timeout)


def call(client, timeout=20.0, prepare=lambda: None, sampler=lambda outcome: [b"sample"]):
    return client.call(7, prepare, sampler, timeout, urgent=False)


def test_a_request_has_its_reply(started):
    client = started({"reply": encode(Matched(("weight",)))}, DONE)
    assert ask(client, Matched) == Matched(("weight",))
    assert ask(client).style == "functional"


@pytest.mark.parametrize(
    ("step", "verdict", "words"),
    [
        ({"reply": FAILED}, Verdict.RUNTIME_ERROR, "raised ValueError: so it is"),
        (
            {"reply": {"t": "Failed", "kind": "MemoryError", "text": ""}},
            Verdict.RESOURCE_LIMIT,
            "MemoryError",
        ),
        ({"reply": {"t": "Failed", "kind": 3, "text": ""}}, Verdict.INTEGRITY, "no message"),
        ({"reply": {"t": "Verdict", "verdict": "accepted"}}, Verdict.INTEGRITY, "no message"),
        ({"reply": {"t": "Matched", "names": []}}, Verdict.INTEGRITY, "no message"),
        ({"reply": {"t": "Done"}}, Verdict.INTEGRITY, "no message"),
        ({"raw": "\x00\x00\x00\x05nope!"}, Verdict.INTEGRITY, "no message"),
        ({"raw": "\x7f\x7f\x7f\x7f"}, Verdict.INTEGRITY, "no message"),
        ({"fds": 3}, Verdict.INTEGRITY, "descriptors"),
        ({"exit": 3}, Verdict.RUNTIME_ERROR, "exited with status 3"),
        ({"exit": 0}, Verdict.RUNTIME_ERROR, "exited with status 0"),
    ],
)
def test_a_wrong_answer_to_a_request_has_its_verdict(started, step, verdict, words):
    with pytest.raises(Fault, match=words) as fault:
        ask(started(step))
    assert fault.value.verdict is verdict


def test_who_answers_wrongly_does_not_live_on(started):
    client = started({"reply": {"t": "Done"}}, DONE)
    with pytest.raises(Fault):
        ask(client)
    assert client.process.poll() is not None


def test_descriptors_that_come_with_a_reply_are_closed(started):
    client = started({"fds": 5})
    opened = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Fault):
        ask(client)
    assert len(os.listdir("/proc/self/fd")) <= opened


def test_no_answer_in_time_is_a_timeout_and_the_end(started):
    client = started({"hang": True})
    with pytest.raises(Fault, match=r"no answer to 'unbind' within 0.2 s") as fault:
        ask(client, timeout=0.2)
    assert fault.value.verdict is Verdict.TIMEOUT
    assert client.process.poll() is not None


def test_a_full_output_explains_an_end_better_than_its_status(started):
    client = started({"exit": 1})
    client.process.full = True
    with pytest.raises(Fault, match="printed more than is allowed"):
        ask(client)


def test_a_call_is_prepared_while_the_process_is_frozen_and_left_frozen(started):
    client = started(RIGHT, RIGHT)
    states = []

    def prepare() -> None:
        states.append(client.process._state())

    for _ in range(2):
        released = call(client, prepare=prepare)
        assert released.outcome == OUTPUTS
        assert released.sample == [b"sample"]
        assert released.nanoseconds > 0
    assert states == ["T", "T"]
    assert client.process._state() == "T"


def test_the_runner_is_told_which_binding_to_call(started):
    text = json.dumps(encode(OUTPUTS)).replace("4096", "BINDING")
    (at,) = call(started({"text": text})).outcome.outputs
    assert at.address == 7


def test_the_sample_is_taken_before_the_clock_stops_unless_that_defence_is_off(started):
    def slow(outcome) -> list[bytes]:
        time.sleep(0.2)
        return []

    assert call(started(RIGHT), sampler=slow).nanoseconds > 200_000_000
    off = Defences(sample_inside_clock=False)
    late = call(started(RIGHT, defences=off), sampler=lambda outcome: [b"later"])
    assert late.sample == [b"later"]


@pytest.mark.parametrize(
    ("step", "verdict", "words"),
    [
        ({"text": json.dumps(FAILED), "status": 1}, Verdict.RUNTIME_ERROR, "so it is"),
        ({"text": json.dumps(FAILED)}, Verdict.INTEGRITY, "no known form"),
        ({"text": RIGHT["text"], "status": 1}, Verdict.INTEGRITY, "no known form"),
        ({"text": ""}, Verdict.INTEGRITY, "no known form"),
        ({"text": "{"}, Verdict.INTEGRITY, "no known form"),
        ({"text": "[" * 60_000}, Verdict.INTEGRITY, "no known form"),
        ({"text": "9" * 5000}, Verdict.INTEGRITY, "no known form"),
        ({"text": "null"}, Verdict.INTEGRITY, "no known form"),
        ({"text": RIGHT["text"], "length": TEXT_BYTES + 1}, Verdict.INTEGRITY, "longer than the page"),
        ({"text": RIGHT["text"], "length": (1 << 64) - 1}, Verdict.INTEGRITY, "longer than the page"),
        ({"text": RIGHT["text"], "length": TEXT_BYTES}, Verdict.INTEGRITY, "no known form"),
        ({"exit": 5}, Verdict.RUNTIME_ERROR, "exited with status 5"),
    ],
)
def test_a_wrong_outcome_of_a_call_has_its_verdict(started, step, verdict, words):
    with pytest.raises(Fault, match=words) as fault:
        call(started(step))
    assert fault.value.verdict is verdict


def test_a_call_that_takes_too_long_is_a_timeout(started):
    client = started({"hang": True})
    with pytest.raises(Fault, match=r"a call took longer than 0.3 s") as fault:
        call(client, timeout=0.3)
    assert fault.value.verdict is Verdict.TIMEOUT
    assert client.process.poll() is not None


def test_nothing_goes_on_working_while_the_sample_is_taken(started):
    client = started(RIGHT)

    def look(outcome):
        deadline = time.monotonic() + 10.0
        while client.process._state() not in "Tt" and time.monotonic() < deadline:
            time.sleep(0.001)
        return [client.process._state().encode()]

    assert call(client, sampler=look).sample == [b"T"]


def test_waiting_for_a_core_disturbs_a_sample(started):
    client = started(RIGHT, RIGHT)

    def delayed(outcome) -> list[bytes]:
        client.process.run_delay_ns += 1_000_000_000
        return []

    assert call(client, sampler=delayed).disturbed


@pytest.mark.parametrize(
    ("delay", "running", "cores", "waited"),
    [
        (0, 500, 1, 0),
        (300, 500, 1, 300),
        (700, 1000, 1, 0),
        (700, 900, 1, 100),
        (700, 1000, 2, 700),
        (-50, 500, 1, 0),
    ],
)
def test_threads_that_wait_for_one_another_wait_for_nobody_else(delay, running, cores, waited):
    before, after = Scheduling(1000, 0, 5000), Scheduling(1000 + delay, 0, 5000 + running)
    assert waited_for_others(before, after, elapsed=1000, cores=cores) == waited


def test_a_runner_whose_call_raised_is_left_frozen(started):
    client = started({"text": json.dumps(FAILED), "status": 1}, RIGHT)
    with pytest.raises(Fault, match="so it is"):
        call(client)
    assert client.process._state() == "T"
    assert call(client).outcome == OUTPUTS


def test_a_deadline_ends_a_call_and_the_process_and_is_no_verdict(started):
    deadline = Deadline()
    client = started({"hang": True}, deadline=deadline)
    deadline.at = time.monotonic() + 0.3
    with pytest.raises(OutOfTime):
        call(client)
    assert client.process.poll() is not None


def test_after_the_deadline_nothing_is_asked(started):
    deadline = Deadline()
    client = started(DONE, deadline=deadline)
    deadline.at = time.monotonic()
    with pytest.raises(OutOfTime):
        ask(client)


def test_requests_and_calls_may_alternate(started):
    client = started(RIGHT, DONE, {"reply": encode(Matched(()))}, RIGHT, DONE)
    assert call(client).outcome == OUTPUTS
    assert ask(client, Matched) == Matched(())
    assert call(client).outcome == OUTPUTS
    assert client.leave(20.0) == ()
    assert client.leave(20.0) == ()


def test_what_the_runner_says_was_replaced_is_handed_on_when_it_leaves(started):
    client = started(RIGHT, {"reply": encode(Done(("time.time",), ""))})
    call(client)
    assert client.leave(20.0) == ("time.time",)


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([RIGHT, {"reply": {"t": "Nonsense"}}], Verdict.INTEGRITY),
        ([RIGHT, {"hang": True}], Verdict.TIMEOUT),
        ([RIGHT, {"exit": 2}], Verdict.RUNTIME_ERROR),
    ],
)
def test_leaving_wrongly_has_its_verdict_too(started, steps, verdict):
    client = started(*steps)
    call(client)
    with pytest.raises(Fault) as fault:
        client.leave(0.3)
    assert fault.value.verdict is verdict


def test_a_runner_that_ends_right_after_its_answer_is_gone(started):
    client = started({"gone": RIGHT["text"]})
    with pytest.raises(Fault, match="exited with status 4"):
        [call(client) for _ in range(2)]


def test_a_closed_channel_does_not_keep_the_judge_waiting(started):
    client = started({"close": True})
    with pytest.raises(Fault, match="closed its channel") as fault:
        ask(client)
    assert fault.value.verdict is Verdict.RUNTIME_ERROR
    assert client.process.poll() is not None


def test_closing_ends_the_process_and_may_be_repeated(started):
    client = started(RIGHT)
    call(client)
    client.close()
    client.close()
    assert client.process.poll() is not None
