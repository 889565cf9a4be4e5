"""What the sandbox contract runs inside: entries, preloaded by name, most of them hostile."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import threading
import time

COUNTER = ctypes.c_uint64(0)
PATTERN = ctypes.create_string_buffer(bytes(range(256)) * 64)
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """A function of the C library; OSError where it returns -1."""
    result = getattr(LIBC, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def evaluate(channel):
    """Answer {"code": source, ...} with what its function `f(message, fds)` returns, until the judge hangs up."""
    known = {"os": os, "socket": socket, "signal": signal, "ctypes": ctypes, "call": call}
    while True:
        try:
            message, fds = channel.receive()
        except EOFError:
            return
        scope = dict(known)
        exec(message["code"], scope)
        try:
            answer = {"value": scope["f"](message, fds)}
        except Exception as e:
            answer = {"error": type(e).__name__, "text": str(e), "refused": isinstance(e, OSError)}
        channel.send(answer)


def leave(channel):
    message, _ = channel.receive()
    os._exit(message["code"])


def leave_by_exit(channel):
    raise SystemExit(5)


def fail(channel):
    raise RuntimeError("no luck today")


def segfault(channel):
    ctypes.string_at(0)


def hang(channel):
    while True:
        time.sleep(3600)


def count(channel):
    channel.send({"address": ctypes.addressof(COUNTER)})
    while True:
        COUNTER.value += 1


def count_in_threads(channel):
    def run():
        while True:
            COUNTER.value += 1

    for _ in range(3):
        threading.Thread(target=run, daemon=True).start()
    channel.send({"address": ctypes.addressof(COUNTER)})
    run()


def count_as_stopped(channel):
    """Under a name that looks like a state to a careless reader of /proc."""
    ctypes.CDLL(None).prctl(15, b") T 1 (", 0, 0, 0)
    count(channel)


def sibling_thaws(channel):
    """A helper, and a helper whose leader thread has ended, try to keep process 1 running."""

    def nag():
        while True:
            os.kill(1, signal.SIGCONT)

    if os.fork() == 0:
        nag()
    if os.fork() == 0:
        threading.Thread(target=nag).start()
        ctypes.CDLL(None).pthread_exit(None)
    count(channel)


def dying_child_continues(channel):
    """Children whose end sends SIGCONT instead of SIGCHLD."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    for _ in range(8):
        if libc.syscall(clone, int(signal.SIGCONT), 0, 0, 0, 0) == 0:
            while True:
                time.sleep(3600)
    count(channel)


def fork_while_frozen(channel):
    """Start children as fast as possible; each counts and forks again."""
    channel.send({"address": ctypes.addressof(COUNTER)})
    while True:
        try:
            os.fork()
        except OSError:
            COUNTER.value += 1


def fork_bomb(channel):
    channel.send({"go": True})
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.001)


def memory_bomb(channel):
    channel.send({"go": True})
    blocks = []
    while True:
        blocks.append(b"x" * (8 << 20))


def memory_bomb_in_child(channel):
    pid = os.fork()
    if pid == 0:
        memory_bomb(channel)
    channel.receive()
    os.waitpid(pid, 0)
    raise SystemExit(1)


def flood(channel):
    channel.send({"go": True})
    while True:
        try:
            os.write(1, b"spam" * 1024)
        except OSError:
            break
    channel.send({"stopped": True})
    time.sleep(3600)


def _sleeping_child(*, in_a_session):
    if os.fork() == 0:
        if in_a_session:
            os.setsid()
        while True:
            time.sleep(3600)


def outlive_by_child(channel):
    """A child that is still there when its parent ends."""
    _sleeping_child(in_a_session=False)
    _leave_when_told(channel)


def outlive_by_session(channel):
    """A child in a session of its own."""
    _sleeping_child(in_a_session=True)
    _leave_when_told(channel)


def outlive_by_double_fork(channel):
    """A grandchild in a session of its own, whose parent has ended."""
    if os.fork() == 0:
        os.setsid()
        _sleeping_child(in_a_session=True)
        os._exit(0)
    os.wait()
    _leave_when_told(channel)


def outlive_by_pipe(channel):
    """A child that keeps every descriptor, the channel's among them, and ignores what may be ignored."""
    if os.fork() == 0:
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        kept = os.dup(3)
        while kept:
            time.sleep(3600)
    _leave_when_told(channel)


def _leave_when_told(channel):
    channel.send({"go": True})
    channel.receive()


def raw(channel):
    """Send the bytes that are asked for, as they are, then wait."""
    message, _ = channel.receive()
    sock = socket.socket(fileno=os.dup(3))
    sock.setblocking(True)
    fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(message["fds"])]
    data = bytes.fromhex(message["hex"]) * message["times"]
    if fds:
        rights = struct.pack(f"{len(fds)}i", *fds)
        sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    else:
        sock.sendall(data)
    time.sleep(3600)


def pattern(channel):
    channel.send({"address": ctypes.addressof(PATTERN), "length": len(PATTERN) - 1})
    time.sleep(3600)
