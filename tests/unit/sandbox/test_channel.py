"""Framing, bounds and descriptors of the message channel."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from sandbox.api import SandboxProtocolError
from sandbox.channel import SocketChannel


@pytest.fixture
def ends() -> Iterator[tuple[SocketChannel, socket.socket]]:
    channel, peer = SocketChannel.pair()
    with peer:
        yield channel, peer
    channel.close()


def frame(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def test_messages_arrive_in_order_with_their_descriptors(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, peer = ends
    other = SocketChannel(peer)
    reader, writer = os.pipe()
    other.send({"n": 1})
    other.send({"n": 2}, [writer])
    other.send({"n": 3})
    os.close(writer)
    assert channel.receive(1) == ({"n": 1}, [])
    message, fds = channel.receive(1)
    assert message == {"n": 2}
    assert len(fds) == 1
    assert not os.get_inheritable(fds[0])
    os.write(fds[0], b"through")
    assert os.read(reader, 99) == b"through"
    assert channel.receive(1) == ({"n": 3}, [])
    for fd in (reader, *fds):
        os.close(fd)


def test_a_message_larger_than_the_socket_s_buffer_passes(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, peer = ends
    text = "ä" * (3 << 20)
    sender = threading.Thread(target=SocketChannel(peer).send, args=({"text": text},))
    sender.start()
    assert channel.receive(10)[0] == {"text": text}
    sender.join()


def test_what_came_before_a_timeout_is_kept(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, peer = ends
    data = frame(b'{"a":1}')
    peer.sendall(data[:6])
    with pytest.raises(TimeoutError):
        channel.receive(0.01)
    peer.sendall(data[6:])
    assert channel.receive(1)[0] == {"a": 1}


def test_a_peer_that_leaves_is_the_end_even_within_a_message(
    ends: tuple[SocketChannel, socket.socket],
) -> None:
    channel, peer = ends
    peer.sendall(frame(b'{"a":1}')[:7])
    peer.close()
    with pytest.raises(EOFError):
        channel.receive(1)
    with pytest.raises(EOFError):
        channel.send({})


def test_sizes_are_bounded_on_both_sides() -> None:
    ours, theirs = socket.socketpair()
    channel = SocketChannel(ours, max_bytes=100)
    with pytest.raises(ValueError, match="exceeds the limit of 100"):
        channel.send({"a": "x" * 100})
    theirs.sendall(struct.pack(">I", 101))
    with pytest.raises(SandboxProtocolError, match="exceeds"):
        channel.receive(1)
    channel.close()
    theirs.close()


def test_a_peer_that_does_not_read_cannot_block_the_sender() -> None:
    ours, theirs = socket.socketpair()
    channel = SocketChannel(ours, send_timeout=0.05)
    with pytest.raises(TimeoutError):
        channel.send({"a": "x" * (8 << 20)})
    with pytest.raises(EOFError):
        channel.send({})
    channel.close()
    theirs.close()


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"1", b"null", b'"text"', b"\xff\xfe", b"{}{}"),
        *(b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":"\\ud800"}', b'{"a":' + b"1" * 5000 + b"}"),
        *(b"[" * 100_000, b'{"a":' * 100_000),
    ],
)
def test_what_is_not_one_plain_object_is_refused(
    ends: tuple[SocketChannel, socket.socket], body: bytes
) -> None:
    channel, peer = ends
    sender = threading.Thread(target=peer.sendall, args=(frame(body),))
    sender.start()
    with pytest.raises(SandboxProtocolError):
        channel.receive(5)
    sender.join()


def test_escaped_text_of_any_language_passes(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, peer = ends
    peer.sendall(frame(json.dumps({"a": "😀 ß"}).encode()))
    assert channel.receive(1)[0] == {"a": "😀 ß"}


def test_descriptors_nobody_took_are_closed() -> None:
    before = len(os.listdir("/proc/self/fd"))
    channel, peer = SocketChannel.pair()
    with peer, open(os.devnull) as file:
        body = frame(b"nonsense")
        socket.send_fds(peer, [body], [file.fileno()])
        with pytest.raises(SandboxProtocolError):
            channel.receive(1)
        socket.send_fds(peer, [body[:2]], [file.fileno()])
        with pytest.raises(TimeoutError):
            channel.receive(0.01)
    channel.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_values_that_json_does_not_know_are_not_sent(ends: tuple[SocketChannel, socket.socket]) -> None:
    channel, _ = ends
    with pytest.raises(ValueError, match="JSON"):
        channel.send({"a": float("nan")})
