"""The first process of a sandbox: builds its root, gives up every right, then runs the entry. Never returns."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterator
from typing import NoReturn

from sandbox import entry, landlock, limits, mounts, seccomp
from sandbox import syscalls as sc
from sandbox.channel import SocketChannel
from sandbox.procfs import open_table
from sandbox.seccomp_rules import DRIVERS_CALLS, OWNERS_CALLS
from sandbox.spec import RootPlan, SetupError, SpawnRequest

_LANDLOCK_WITH_SCOPES = 6  # keeps signals inside, where all have one uid
_OOM_SCORE = "500"  # the host's memory killer takes a sandbox before the judge


def run(request: SpawnRequest, report: SocketChannel, channel: int, output: int, life: int) -> NoReturn:
    """Set up and run. `report` leads to the judge and is closed before foreign code runs; `life` hangs up when
    the parent dies. A step that is refused is reported as {"step", "error"} and ends the process; so does any
    other failure, as {"error"}."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        table = _restrict(request, output, life)
        report.send({"ready": True}, table)
    except SetupError as e:
        report.send({"step": e.step, "error": e.text})
        os._exit(1)
    except Exception:
        report.send({"error": traceback.format_exc()})
        os._exit(1)
    report.close()
    end = entry.keep_only(channel)
    entry.enter(request.entry, SocketChannel(end))


@contextlib.contextmanager
def setup_step(name: str) -> Iterator[None]:
    """Turn an OSError into a SetupError of that step."""
    try:
        yield
    except OSError as e:
        raise SetupError(name, str(e)) from e


def own_user_namespace(uid: int, gid: int) -> None:
    """Move to a new user namespace in which only this uid and gid exist, as themselves. Raises SetupError."""
    with setup_step("user_namespace"):
        sc.unshare(sc.CLONE_NEWUSER)
        _put("/proc/self/setgroups", "deny")
        _put("/proc/self/uid_map", f"{uid} {uid} 1")
        _put("/proc/self/gid_map", f"{gid} {gid} 1")


def _put(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _restrict(request: SpawnRequest, output: int, life: int) -> list[int]:
    """Every step, in order. Returns descriptors of the /proc that it sees, for the judge's `ProcessTable`."""
    os.setsid()
    os.umask(0o022)
    for members in request.cgroups:
        with setup_step("cgroup"):
            _put(members, "0")
    if request.root is not None:
        _own_places(request.root, request)
    _put("/proc/self/oom_score_adj", _OOM_SCORE)
    if request.drop:
        with setup_step("no_capabilities"):
            sc.empty_bounding_set()
        with setup_step("own_uid"):
            os.setgroups([])
            os.setresgid(request.gid, request.gid, request.gid)
            os.setresuid(request.uid, request.uid, request.uid)
            sc.prctl(sc.PR_SET_DUMPABLE, 1)
    if request.root is not None:
        own_user_namespace(request.uid, request.gid)
        with setup_step("no_capabilities"):
            sc.empty_bounding_set()
    else:
        _check_view(request)
    with setup_step("resource_limits"):
        others = 0 if request.drop or request.root is not None else limits.tasks_of(request.uid) - 1
        limits.apply(request.limits, request.cores, request.bound_address_space, others)
    _give_up_rights(life)
    table = open_table()
    entry.standard_streams(output)
    entry.scrub(request.environment, request.view.scratch)
    _close_off(request)
    return table


def _own_places(root: RootPlan, request: SpawnRequest) -> None:
    with setup_step("cgroup_namespace"):
        sc.unshare(sc.CLONE_NEWCGROUP)
    with setup_step("uts_namespace"):
        sc.call("sethostname", b"sandbox", 7)
    with setup_step("mount_namespace"):
        mounts.build_root(root, request.view.devices, request.uid, request.gid)


def _check_view(request: SpawnRequest) -> None:
    """Without a root of its own a child sees what its uid may, and Landlock alone keeps it from the rest."""
    with setup_step("readable_interpreter"):
        for folder in (sys.base_prefix, sys.prefix):
            os.listdir(folder)
    needed = 1 if request.drop else _LANDLOCK_WITH_SCOPES
    if landlock.abi() < needed:
        raise SetupError("landlock", f"ABI {landlock.abi()}, and at least {needed} is needed")


def _close_off(request: SpawnRequest) -> None:
    view = request.view
    with setup_step("landlock"):
        landlock.restrict(view.writable, mounts.DEVICES, view.readable, view.listed, view.devices)
    with setup_step("seccomp"):
        hidden_by_mounts = request.root is not None
        also_denied = () if request.drop or hidden_by_mounts else OWNERS_CALLS
        seccomp.install(also_denied, DRIVERS_CALLS if view.devices else ())


def _give_up_rights(life: int) -> None:
    with setup_step("no_capabilities"):
        sc.drop_capabilities()
    with setup_step("no_new_privs"):
        sc.prctl(sc.PR_SET_NO_NEW_PRIVS, 1)
    with setup_step("death_with_parent"):
        sc.prctl(sc.PR_SET_DUMPABLE, 1)
        sc.prctl(sc.PR_SET_PDEATHSIG, 9)
        poll = select.poll()
        poll.register(life, select.POLLIN)
        if poll.poll(0):
            os._exit(1)
