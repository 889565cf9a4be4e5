"""The last steps of a process before foreign code: its streams, environment and descriptors, then the entry."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from typing import NoReturn

from sandbox.api import Channel
from sandbox.channel import SocketChannel

SCRATCH = "/tmp"
_CHANNEL_FD = 3
_PATH = "/usr/local/bin:/usr/bin:/bin"


def standard_streams(output: int) -> None:
    """Nothing to read, and stdout and stderr into `output`."""
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if null > 2:
        os.close(null)


def scrub(environment: Mapping[str, str], scratch: str = SCRATCH) -> None:
    """This environment and no other, and the private scratch as home, temporary and working folder."""
    os.environ.clear()
    os.environ.update({"HOME": scratch, "TMPDIR": scratch, "PATH": _PATH})
    os.environ.update({name: _at(scratch, value) for name, value in environment.items()})
    os.chdir(scratch)
    tempfile.tempdir = None  # what a preloaded module may have asked for was another folder


def _at(scratch: str, value: str) -> str:
    """A value that names a place in the scratch by its usual path, with the one that it has here."""
    if value == SCRATCH or value.startswith(SCRATCH + "/"):
        return scratch + value[len(SCRATCH) :]
    return value


def keep_only(channel: int) -> socket.socket:
    """Close every descriptor but the standard streams and the channel, which becomes number 3."""
    if channel != _CHANNEL_FD:
        os.dup2(channel, _CHANNEL_FD, inheritable=False)
    os.closerange(_CHANNEL_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1] + 4096)
    return socket.socket(fileno=_CHANNEL_FD)


def enter(entry: str, channel: SocketChannel) -> NoReturn:
    """Call `entry` ("module:function") and end with what comes of it."""
    code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        _find(entry)(channel)
        code = 0
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code & 0xFF)


def _find(entry: str) -> Callable[[Channel], object]:
    module, _, function = entry.partition(":")
    found: Callable[[Channel], object] = getattr(sys.modules[module], function)
    return found
