"""The fork server: imports modules once, then forks sandboxed children on request. Single-threaded; our code only.

Its parent starts it through `BOOT`, so that it finds the same modules however they are installed. Per child there
is a helper, which makes the namespaces, waits for the first process and reports its end; it dies with the fork
server, and the first process, with all of its namespace, dies with the helper. Where there are no namespaces, the
helper is a keeper (`sandbox.keeper`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import traceback
from typing import NoReturn, cast

from sandbox import child, keeper
from sandbox import syscalls as sc
from sandbox.channel import SocketChannel
from sandbox.spec import SetupError, SpawnRequest

BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from sandbox.zygote import serve; serve(int(sys.argv[2]), int(sys.argv[3]))"
)

_NAMESPACES = (
    ("mount_namespace", sc.CLONE_NEWNS),
    ("pid_namespace", sc.CLONE_NEWPID),
    ("net_namespace", sc.CLONE_NEWNET),
    ("ipc_namespace", sc.CLONE_NEWIPC),
    ("uts_namespace", sc.CLONE_NEWUTS),
)


def serve(control_fd: int, judge_pid: int) -> None:
    """Serve until the judge closes its end or dies, then exit without more ado. Returns where it cannot serve."""
    judge = os.pidfd_open(judge_pid)
    control = SocketChannel(socket.socket(fileno=control_fd))
    message, _ = control.receive()
    try:
        for name in cast("list[str]", message["preload"]):
            importlib.import_module(name)
    except BaseException:
        control.send({"error": traceback.format_exc(limit=-3)})
        return
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        control.send(
            {"error": f"the preloaded modules started {threads - 1} threads; a fork would lose them"}
        )
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    control.send({"ready": True})
    with contextlib.suppress(EOFError):
        while _asked(control, judge):
            message, fds = control.receive()
            _fork_helper(message, fds, control, judge)
    os._exit(0)


def _asked(control: SocketChannel, judge: int) -> bool:
    """Wait for a request; False when the judge has died."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(judge, select.POLLIN)
    return judge not in (fd for fd, _ in poll.poll())


def _fork_helper(message: dict[str, object], fds: list[int], control: SocketChannel, judge: int) -> None:
    server = os.getpid()
    try:
        forked = os.fork()
    except OSError as e:
        refused = SocketChannel(socket.socket(fileno=fds.pop(0)))
        refused.send({"step": "process_limit", "error": f"the fork server cannot fork: {e}"})
        refused.close()
        forked = -1
    if forked == 0:
        control.close()
        os.close(judge)
        try:
            _help(SpawnRequest.from_message(message), fds, server)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    for fd in fds:
        os.close(fd)


def _help(request: SpawnRequest, fds: list[int], server: int) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if request.root is None:
        keeper.take_charge(request)
    else:
        sc.prctl(sc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
    report_fd, channel, output = fds
    report = SocketChannel(socket.socket(fileno=report_fd))
    try:
        if request.root is not None:
            _separate(request)
    except SetupError as e:
        report.send({"step": e.step, "error": e.text})
        os._exit(1)
    life, alive = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(alive)
        child.run(request, report, channel, output, life)
    for fd in (channel, output, life):
        os.close(fd)
    report.send({"pid": pid, "keeper": os.getpid()}, [os.pidfd_open(pid)])
    status = keeper.wait(pid, request) if request.root is None else os.waitpid(pid, 0)[1]
    report.send({"ended": status})
    os._exit(0)


def _separate(request: SpawnRequest) -> None:
    """Leave the host's namespaces. What is real root stays so until the mounts are made."""
    if not request.drop:
        child.own_user_namespace(request.uid, request.gid)
        sc.prctl(sc.PR_SET_PDEATHSIG, signal.SIGKILL)
    for step, flag in _NAMESPACES:
        with child.setup_step(step):
            sc.unshare(flag)
