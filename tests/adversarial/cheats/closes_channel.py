"""Hangs up as soon as the judge has asked for the call's arguments to be put in place.

incident: own
problem: softmax
verdict: runtime_error
defence: limits
"""

import os
import socket
import threading
import time

import torch

channel = socket.socket(fileno=os.dup(3))


def bound():
    with open("/proc/self/maps", encoding="ascii") as maps:
        return "kernelwright-arena" in maps.read()


def hang_up():
    while not bound():
        time.sleep(0.0005)
    channel.shutdown(socket.SHUT_RD)


threading.Thread(target=hang_up, daemon=True).start()


def run(x):
    return torch.softmax(x, dim=-1)
