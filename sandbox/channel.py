"""The message channel: length-prefixed JSON objects and descriptors over a stream socketpair.

A frame is four bytes of big-endian length and that many bytes of UTF-8 JSON, an object. Everything that
arrives is taken as hostile: sizes, syntax, nesting, text that is not Unicode, and descriptors are bounded.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence

from sandbox.api import SandboxProtocolError

MAX_MESSAGE_BYTES = 16 << 20
MAX_FDS = 64
_CHUNK = 1 << 20
_ANCILLARY = socket.CMSG_SPACE(MAX_FDS * array.array("i").itemsize)


class SocketChannel:
    """A `Channel` on one end of a socketpair, which it owns.

    send_timeout: seconds after which `send` gives up on a peer that does not read (TimeoutError); a frame may
    then be half sent, so the channel refuses to send any more.
    """

    def __init__(
        self, sock: socket.socket, max_bytes: int = MAX_MESSAGE_BYTES, send_timeout: float = 30.0
    ) -> None:
        self._socket = sock
        self._max_bytes = max_bytes
        self._send_timeout = send_timeout
        self._buffer = bytearray()
        self._fds: list[int] = []
        self._broken = False
        sock.setblocking(False)

    @staticmethod
    def pair() -> tuple[SocketChannel, socket.socket]:
        """A channel, and the bare other end to be handed to a peer."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return SocketChannel(ours), theirs

    def fileno(self) -> int:
        """The descriptor, for poll."""
        return self._socket.fileno()

    def send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        """Send one message. Raises ValueError when it is too large or not JSON, EOFError, TimeoutError."""
        text = json.dumps(message, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        body = text.encode()
        if len(body) > self._max_bytes:
            raise ValueError(f"a message of {len(body)} bytes exceeds the limit of {self._max_bytes}")
        if len(fds) > MAX_FDS:
            raise ValueError(f"{len(fds)} descriptors exceed the limit of {MAX_FDS}")
        if self._broken:
            raise EOFError("an earlier message was only half sent")
        frame = memoryview(struct.pack(">I", len(body)) + body)
        self._broken = True
        sent = self._send_some(frame, fds)
        while sent < len(frame):
            sent += self._send_some(frame[sent:], ())
        self._broken = False

    def _send_some(self, data: memoryview, fds: Sequence[int]) -> int:
        deadline = time.monotonic() + self._send_timeout
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        while True:
            try:
                return self._socket.sendmsg([data[:_CHUNK]], rights, socket.MSG_NOSIGNAL)
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline, "the peer does not read")
            except (BrokenPipeError, ConnectionError) as e:
                raise EOFError("the peer is gone") from e

    def receive(self, timeout: float | None = None) -> tuple[dict[str, object], list[int]]:
        """One message and its descriptors. What came of an unfinished frame before a TimeoutError is kept."""
        deadline = None if timeout is None else time.monotonic() + timeout
        body = self._take_frame()
        while body is None:
            self._receive_some(deadline)
            body = self._take_frame()
        fds, self._fds = self._fds, []
        try:
            return parse(body), fds
        except SandboxProtocolError:
            close_all(fds)
            raise

    def _take_frame(self) -> bytes | None:
        if len(self._buffer) < 4:
            return None
        (length,) = struct.unpack_from(">I", self._buffer)
        if length > self._max_bytes:
            raise SandboxProtocolError(f"a frame of {length} bytes exceeds the limit of {self._max_bytes}")
        if len(self._buffer) < 4 + length:
            return None
        body = bytes(self._buffer[4 : 4 + length])
        self._buffer.clear()
        return body

    def _missing(self) -> int:
        """Bytes up to the end of the frame begun; never more, so descriptors stay with their own frame."""
        if len(self._buffer) < 4:
            return 4 - len(self._buffer)
        (length,) = struct.unpack_from(">I", self._buffer)
        return int(4 + length - len(self._buffer))

    def _receive_some(self, deadline: float | None) -> None:
        while True:
            try:
                data, ancillary, flags, _ = self._socket.recvmsg(
                    min(self._missing(), _CHUNK), _ANCILLARY, socket.MSG_CMSG_CLOEXEC
                )
                break
            except BlockingIOError:
                self._wait(select.POLLIN, deadline, "no whole message in time")
            except ConnectionError as e:
                raise EOFError("the peer is gone") from e
        self._keep_fds(ancillary)
        if flags & socket.MSG_CTRUNC or len(self._fds) > MAX_FDS:
            close_all(self._fds)
            raise SandboxProtocolError("too many descriptors")
        if not data:
            raise EOFError("the peer is gone")
        self._buffer += data

    def _keep_fds(self, ancillary: Sequence[tuple[int, int, bytes]]) -> None:
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
                self._fds.extend(numbers)

    def _wait(self, event: int, deadline: float | None, complaint: str) -> None:
        poll = select.poll()
        poll.register(self._socket, event)
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError(complaint)
        if not poll.poll(None if left is None else left * 1000) and deadline is not None:
            raise TimeoutError(complaint)

    def close(self) -> None:
        """Close the socket and every descriptor that nobody took."""
        close_all(self._fds)
        self._socket.close()


def parse(body: bytes) -> dict[str, object]:
    """The JSON object in `body`. Raises SandboxProtocolError on anything else."""
    try:
        message = json.loads(body.decode(), parse_constant=_refuse_constant)
        if b"\\u" in body:
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as e:
        raise SandboxProtocolError(f"not a JSON message: {type(e).__name__}") from e
    if not isinstance(message, dict):
        raise SandboxProtocolError("a message must be a JSON object")
    return message


def close_all(fds: list[int]) -> None:
    """Close the descriptors and empty the list."""
    while fds:
        os.close(fds.pop())


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
