"""Importing foreign source inside a runner, and deciding how it is called."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import inspect
import linecache
import os
import shutil
import sys
import tarfile
import types
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import torch

from evaluator.harness.wire import Load

ANY_NUMBER = 1 << 16


def scratch() -> str:
    """The private folder of this sandbox. Asked for when it is needed: a fork server has another."""
    return os.environ.get("TMPDIR", "/tmp")


def candidate_folder() -> str:
    """Where foreign files are laid."""
    return os.path.join(scratch(), "candidate")


def built_folders() -> tuple[str, str]:
    """Where torch builds what a candidate asks it to build, by the environment that both builder and runners have."""
    return os.path.join(scratch(), "extensions"), os.path.join(scratch(), "inductor")


def lay_down(files: Mapping[str, str], folder: str) -> None:
    """Write the files below `folder`. Raises ValueError for a name that would leave it."""
    for name, text in files.items():
        with open(_inside(folder, name), "w", encoding="utf-8", newline="") as f:
            f.write(text)


def _inside(folder: str, name: str) -> str:
    """The path of `name` below `folder`, whose own folders are made. Raises ValueError for one that leaves it."""
    path = os.path.normpath(os.path.join(folder, name))
    if not path.startswith(folder + os.sep):
        raise ValueError(f"file name {name!r} leaves the candidate's folder")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def import_main(main: str, folder: str) -> types.ModuleType:
    """Import `main` of `folder` as a module named after it; its neighbours can be imported too."""
    name = os.path.splitext(os.path.basename(main))[0]
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, main))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    linecache.checkcache()
    spec.loader.exec_module(module)
    return module


def open_library(descriptor: int, folder: str) -> ctypes.CDLL:
    """The shared object behind a descriptor (which is closed)."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "candidate.so")
    with os.fdopen(descriptor, "rb") as source, open(path, "wb") as target:
        source.seek(0)
        target.write(source.read())
    return ctypes.CDLL(path)


def unpack(descriptor: int, folder: str) -> None:
    """Lay out what a first import built, from the archive behind a descriptor (which is closed).

    Only regular files are taken. Raises ValueError for a name that would leave `folder`. Where the sandbox refuses
    to set a file's time, a build system may build again.
    """
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(descriptor, "rb") as source, tarfile.open(fileobj=source, mode="r:") as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.isfile() else None
            if content is not None:
                path = _inside(folder, entry.name)
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755), "wb") as target:
                    shutil.copyfileobj(content, target)
                with contextlib.suppress(PermissionError):
                    os.utime(path, (entry.mtime, entry.mtime))


def construct(cls: Callable[..., object], init: object) -> torch.nn.Module:
    """An instance of a module's class. Raises TypeError where it is another thing."""
    module = cls(**init) if isinstance(init, dict) else cls(*cast("Sequence[object]", init))
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{getattr(cls, '__name__', cls)} is not a torch.nn.Module")
    return module


def style_of(function: Callable[..., object], load: Load) -> tuple[str, bool]:
    """The style of a function without a declared one, and whether it takes the state after the inputs.

    By the numbers of positional parameters that it can be called with: inputs (and state), or those and the
    outputs.
    """
    least, most = _positional(function)
    plain, full = load.inputs, load.inputs + load.states
    for style, more in (("functional", 0), ("destination", load.outputs)):
        for count in (plain, full) if load.style in ("", style) else ():
            if least <= count + more <= most:
                return style, count != plain
    raise TypeError(
        f"{load.entry} takes {least} required positional parameters; expected {plain} (inputs)"
        f"{f' or {full} (inputs and state)' if load.states else ''} to return its result, "
        f"or {load.outputs} more (outputs) to write into them"
    )


def _positional(function: Callable[..., object]) -> tuple[int, int]:
    """The least and the largest number of positional arguments that a function takes; any where it does not say."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # written in C, or compiled by torch.jit
        return 0, ANY_NUMBER
    taken = [p for p in parameters if p.kind in positional]
    endless = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    least = sum(p.default is inspect.Parameter.empty for p in taken)
    return least, ANY_NUMBER if endless else len(taken)
