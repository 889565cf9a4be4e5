"""A process beside the judge that ends the judge's containers when the judge dies, however it dies.

A container's parent is the engine, so nothing of the kernel's ties it to the judge. The guard holds a descriptor of
each container's process 1; where the judge ends without a word it kills those and removes the containers. What
a guard that was killed as well leaves behind is removed when a judge next starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys

from sandbox.api import SandboxError
from sandbox.channel import SocketChannel, close_all
from sandbox.docker_engine import Engine

_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from sandbox.docker_guard import watch; watch(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])"
)


class Guard:
    """The judge's end. In a session of its own, so that Ctrl-C does not reach the guard."""

    def __init__(self, owner: str, judge_pid: int | None = None) -> None:
        """owner: the label of what is to be removed. judge_pid: whose death counts; this process's where None."""
        self._channel, theirs = SocketChannel.pair()
        path = [p for p in sys.path if os.path.isabs(p)]
        with theirs:
            fd = theirs.fileno()
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-c",
                    _BOOT,
                    json.dumps(path),
                    str(fd),
                    str(judge_pid or os.getpid()),
                    owner,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(fd,),
                cwd="/",
                env={k: v for k, v in os.environ.items() if k == "PATH" or k.startswith("DOCKER_")},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The guard's pid."""
        return self._process.pid

    def hold(self, identity: str, pidfd: int) -> None:
        """Watch over a container from now on. Raises SandboxError where the guard is gone."""
        self._tell({"hold": identity}, [pidfd])

    def let_go(self, identity: str) -> None:
        """The container is gone."""
        with contextlib.suppress(SandboxError):
            self._tell({"let_go": identity}, [])

    def _tell(self, message: dict[str, object], fds: list[int]) -> None:
        try:
            self._channel.send(message, fds)
        except (EOFError, TimeoutError) as e:
            raise SandboxError("the process that guards containers is gone") from e

    def close(self) -> None:
        """Everything was removed: end the guard."""
        with contextlib.suppress(SandboxError):
            self._tell({"done": True}, [])
        self._channel.close()
        self._process.wait()


def watch(fd: int, judge_pid: int, owner: str) -> None:
    """The guard's whole life."""
    judge = os.pidfd_open(judge_pid)
    channel = SocketChannel(socket.socket(fileno=fd))
    held: dict[str, list[int]] = {}
    with contextlib.suppress(EOFError):
        while _told(channel, judge):
            message, pidfds = channel.receive()
            if "done" in message:
                return
            if "hold" in message:
                held[str(message["hold"])] = pidfds
            else:
                close_all(held.pop(str(message["let_go"]), []))
    for pidfd in (fd for pidfds in held.values() for fd in pidfds):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    Engine().remove_all_of(owner)


def _told(channel: SocketChannel, judge: int) -> bool:
    """Wait for a message; False when the judge has died."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    poll.register(judge, select.POLLIN)
    return judge not in (fd for fd, _ in poll.poll())
