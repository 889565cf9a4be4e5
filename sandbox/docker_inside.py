"""Process 1 of a container: reaches the judge, imports modules, waits for its one entry, restricts itself, runs it.

Standard library only; our code until `entry.enter`. It came as an archive that the judge removes before it asks for
an entry. The container's engine has set up what an engine can; what only the process itself can do is done here:
Landlock, the whole seccomp filter, affinity and limits that other accounts' processes do not share.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from sandbox import child, entry, landlock, limits, seccomp
from sandbox import syscalls as sc
from sandbox.api import Limits
from sandbox.channel import SocketChannel
from sandbox.procfs import open_table
from sandbox.spec import SetupError


@dataclass(frozen=True)
class Request:
    """What the judge wants run, under which limits, and what it may write to. Sent with two descriptors: the entry's
    channel and the output."""

    entry: str
    environment: Mapping[str, str]
    limits: Limits
    cores: tuple[int, ...]
    writable: tuple[str, ...]
    devices: tuple[str, ...]

    @staticmethod
    def from_message(message: Mapping[str, object]) -> Request:
        """Read what `dataclasses.asdict` wrote; it comes from the judge, so its fields are taken as they are."""
        values = cast("dict[str, Any]", dict(message))
        values["limits"] = Limits(**values["limits"])
        return Request(**values)


def serve(address: str, preload: Sequence[str], idle: bool) -> NoReturn:
    """Connect to the judge, say {"ready"} with everything imported or {"error"}, take one request and run it.

    idle: begin in the idle class, so that nothing that is timed waits for the imports. The judge, when it waits for
    them itself, makes the process ordinary.
    """
    if idle:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    control = SocketChannel(connection)
    try:
        for name in preload:
            importlib.import_module(name)
    except BaseException:
        control.send({"error": traceback.format_exc(limit=-3)})
        os._exit(1)
    del sys.path[0]
    control.send({"ready": True})
    _run(control)


def _run(control: SocketChannel) -> NoReturn:
    try:
        message, (channel, output) = control.receive()
    except EOFError:
        os._exit(0)
    request = Request.from_message(message)
    try:
        table = _restrict(request, output)
        control.send({"ready": True}, table)
    except SetupError as e:
        control.send({"step": e.step, "error": e.text})
        os._exit(1)
    except Exception:
        control.send({"error": traceback.format_exc()})
        os._exit(1)
    control.close()
    entry.enter(request.entry, SocketChannel(entry.keep_only(channel)))


def _restrict(request: Request, output: int) -> list[int]:
    """Every step, in order. Returns descriptors of /proc, for the judge's `ProcessTable`."""
    os.umask(0o022)
    _take_user_namespace(os.getuid(), os.getgid())
    with child.setup_step("resource_limits"):
        limits.apply(_from_now_on(request.limits), request.cores, bound_address_space=False)
    table = open_table()
    entry.standard_streams(output)
    entry.scrub(request.environment)
    with child.setup_step("landlock"):
        landlock.restrict(request.writable, request.devices)
    with child.setup_step("seccomp"):
        seccomp.install()
    return table


def _take_user_namespace(uid: int, gid: int) -> None:
    """Leave the engine's user namespace, where this host lets a container do so, and give up every right in the new
    one. Raises SetupError where that is half done."""
    try:
        child.own_user_namespace(uid, gid)
    except SetupError:
        if os.getuid() != uid:
            raise
        return
    with child.setup_step("no_capabilities"):
        sc.empty_bounding_set()
        sc.drop_capabilities()
        sc.prctl(sc.PR_SET_DUMPABLE, 1)  # so that a judge without rights can read its memory


def _from_now_on(given: Limits) -> Limits:
    """What was spent on imports does not count."""
    if given.cpu_seconds is None:
        return given
    return replace(given, cpu_seconds=given.cpu_seconds + 1 + int(time.process_time()))
