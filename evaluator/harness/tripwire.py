"""Notices the plain ways of tampering with a process: functions that are not what they were.

A courtesy, not a defence: it runs in the process it watches. Nothing of worth is there to be won by tampering
(clock, expected outputs and verdict are in the judge), but who tampers says that he cheats.
"""

from __future__ import annotations

import builtins
import gc
import json
import os
import statistics
import sys
import time
import types

import torch

_WATCHED: tuple[types.ModuleType | type, ...] = (
    *(time, statistics, os, sys, gc, json, builtins),
    *(torch, torch.nn.functional, torch.testing, torch.Tensor),
)
_HARMLESS = frozenset(
    {"__warningregistry__", "_", "displayhook", "excepthook", "stdout", "stderr", "stdin", "path", "modules"}
    | {
        "last_type",
        "last_value",
        "last_traceback",
        "last_exc",
        "ps1",
        "ps2",
        "dont_write_bytecode",
        "__annotations__",
    }
    | {"manual_seed"}  # torch.compile wraps it on its first use
)


def _callables(owner: types.ModuleType | type) -> dict[str, int]:
    return {
        name: id(value)
        for name, value in vars(owner).items()
        if callable(value) and not isinstance(value, types.ModuleType) and name not in _HARMLESS
    }


class Tripwire:
    """Remembers the callables of the watched modules; `changed` lists those replaced since."""

    def __init__(self) -> None:
        self._before = [(owner, _callables(owner)) for owner in _WATCHED]

    def changed(self) -> tuple[str, ...]:
        """Dotted names of watched functions that are not what they were, at most 16."""
        names = [
            f"{owner.__name__}.{name}"
            for owner, before in self._before
            for name, identity in before.items()
            if id(vars(owner).get(name)) != identity
        ]
        return tuple(names[:16])
