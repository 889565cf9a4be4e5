"""Plays a runner by a script: started by test_client.py with a socket's number and the script as JSON.

The script is a list of steps, one for each message received and, after a Serve message, one for each call:

    {"reply": {...}}    a message           {"raw": "text"}     these bytes, no frame
    {"fds": n}          Done with n descriptors                  {"hang": true}      nothing, for long
    {"exit": n}         end the process     {"close": true}     close the channel, live on
    {"text": "...", "length": n, "status": n}   a call's outcome on the page (length: by default the text's)
    {"gone": "..."}     as text, then end the process before the judge leaves

A message beyond the script is answered with Done. Standard library only, so that it starts quickly.
"""

from __future__ import annotations

import json
import mmap
import os
import socket
import struct
import sys
import time

PAGE_BYTES, TEXT = 64 << 10, 64
GO, DONE, STATUS, LENGTH, BINDING = range(5)
LEAVE = (1 << 64) - 1


def receive(channel: socket.socket) -> tuple[dict[str, object], list[int]]:
    """The next message; ends the process where there is none."""
    data, fds, _, _ = socket.recv_fds(channel, 4, 8)
    if not data:
        sys.exit(0)
    (length,) = struct.unpack(">I", data)
    body = b""
    while len(body) < length:
        body += channel.recv(length - len(body))
    return json.loads(body), list(fds)


def send(channel: socket.socket, message: object, fds: list[int]) -> None:
    """One frame."""
    body = json.dumps(message).encode()
    socket.send_fds(channel, [struct.pack(">I", len(body)) + body], fds)


def plainly(step: dict[str, object], channel: socket.socket) -> None:
    """Do what a step says that is about the channel or the process."""
    if "exit" in step:
        os._exit(int(str(step["exit"])))
    if "hang" in step:
        time.sleep(600)
    if "close" in step:
        channel.close()
        time.sleep(600)
    if "raw" in step:
        channel.send(str(step["raw"]).encode())
    if "fds" in step:
        send(channel, {"t": "Done", "tampered": [], "style": ""}, [0] * int(str(step["fds"])))
    if "reply" in step:
        send(channel, step["reply"], [])


def serve(channel: socket.socket, descriptor: int, steps: list[dict[str, object]]) -> None:
    """Answer calls on the page by the script until told to leave."""
    memory = mmap.mmap(descriptor, PAGE_BYTES)
    words = memoryview(memory).cast("Q")
    number = words[DONE]
    while (go := words[GO]) != LEAVE:
        if go != number + 1:
            time.sleep(0.0005)
            continue
        step = steps.pop(0)
        plainly(step, channel)
        text = str(step.get("text", step.get("gone", ""))).replace("BINDING", str(words[BINDING])).encode()
        memory[TEXT : TEXT + len(text)] = text
        words[LENGTH] = int(str(step.get("length", len(text))))
        words[STATUS] = int(str(step.get("status", 0)))
        words[DONE] = number = go
        if "gone" in step:
            os._exit(4)


def main() -> None:
    """Play the script."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    steps = json.loads(sys.argv[2])
    while True:
        message, fds = receive(channel)
        if message["t"] == "Serve":
            serve(channel, fds[0], steps)
        step = steps.pop(0) if steps else {"reply": {"t": "Done", "tampered": [], "style": ""}}
        plainly(step, channel)


if __name__ == "__main__":
    main()
