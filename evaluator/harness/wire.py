"""The one schema of what judge and runner say to one another, checked on both sides.

Every message is a JSON object with its class name under "t" and exactly the fields of that class. `decode`
raises WireError on anything else; the judge treats that as the runner's fault. Standard library only.

Control messages go over the channel, one reply to each request. Timed calls go over the shared page
(`evaluator.harness.page`); only the description of a call's outcome (`Outcome`) uses this schema there.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass

M = typing.TypeVar("M")


class WireError(Exception):
    """Not a message of the schema."""


MAX_ITEMS = 4096
MAX_TEXT = 1 << 20


@dataclass(frozen=True)
class Slot:
    """A tensor in an arena: byte offset of its first element, sizes, strides in elements, dtype name."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Scalar:
    """A Python number given as an argument; `kind` is "int", "float" or "bool"."""

    kind: str
    value: float | int | bool


@dataclass(frozen=True)
class Located:
    """A tensor in the runner's own memory. `exact` is false where it is not a plain torch.Tensor."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    exact: bool


@dataclass(frozen=True)
class State:
    """One entry of a module's state dict."""

    name: str
    tensor: Located
    parameter: bool


# --- requests ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Lay the files down and import the main one; or take the shared object sent as a descriptor (`library`).

    style: "module", "functional", "destination", or "" where the number of parameters of `entry` decides, given
    the numbers of inputs, state tensors and outputs.
    """

    files: dict[str, str]
    main: str
    entry: str
    style: str
    library: bool
    threads: int
    inputs: int
    states: int
    outputs: int


@dataclass(frozen=True)
class Construct:
    """Make the instance `key`: seed torch, build the module with `init`, a Python literal of the list of
    arguments (None: the file's get_init_inputs)."""

    key: str
    init: str | None
    seed: int


@dataclass(frozen=True)
class SetState:
    """Copy the state arena (descriptor with the message) into instance `key`, by name."""

    key: str
    size: int
    names: tuple[str, ...]
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Draw:
    """Call the file's get_inputs under a seed."""

    seed: int


@dataclass(frozen=True)
class Bind:
    """Map an arena (descriptor with the message) as the arguments of instance `key`, called by its `number`.

    variant: "plain", "double", "single", "compile". Outputs are given only to destination passing. `mutates` are the
    places of the inputs that the call may change; "double" and "single", which work on copies in float64 and
    float32, return these after their outputs.
    """

    number: int
    key: str
    variant: str
    size: int
    inputs: tuple[Slot | Scalar, ...]
    outputs: tuple[Slot, ...]
    mutates: tuple[int, ...]


@dataclass(frozen=True)
class Unbind:
    """Let a binding go, with its arena and its results."""

    number: int


@dataclass(frozen=True)
class Discard:
    """Let the instance `key` go, which no binding uses any more."""

    key: str


@dataclass(frozen=True)
class Trace:
    """Trace the binding `number` into a graph."""

    number: int


@dataclass(frozen=True)
class Serve:
    """Leave the channel and serve calls on the shared page (descriptor with the message) until told to leave.

    Answered by Done when the judge ends it.
    """


# --- replies ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failed:
    """The foreign code raised. `kind` is the exception's class name, `text` the end of its traceback."""

    kind: str
    text: str


@dataclass(frozen=True)
class Done:
    """The request was carried out. `tampered` names functions of the process that are not what they were."""

    tampered: tuple[str, ...] = ()
    style: str = ""


@dataclass(frozen=True)
class Constructed:
    """The state dict of the new instance, and the arguments it was built with as a Python literal."""

    state: tuple[State, ...]
    init: str


@dataclass(frozen=True)
class Matched:
    """Names of the state that were found and set."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """What get_inputs gave. Held until the next Draw."""

    values: tuple[Located | Scalar, ...]


@dataclass(frozen=True)
class Traced:
    """The graph, as JSON text."""

    graph: str


Reply = Failed | Done | Constructed | Matched | Drawn | Traced

# --- the outcome of a call, in the shared page -------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """Where the outputs of a call are. Empty for destination passing."""

    outputs: tuple[Located, ...]


# --- encoding and decoding ---------------------------------------------------------------------------------


def encode(message: object) -> dict[str, object]:
    """The message as a JSON object."""
    data = _plain(message)
    assert isinstance(data, dict)
    return data


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"t": type(value).__name__, **fields}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value


class Schema:
    """The classes of one conversation: its messages and what these hold. Knows only the hints that occur in them."""

    def __init__(self, *classes: type) -> None:
        self._classes = {c.__name__: c for c in classes}
        self._fields = {
            name: {f.name: typing.get_type_hints(c)[f.name] for f in dataclasses.fields(c)}
            for name, c in self._classes.items()
        }

    def decode(self, data: object, *expected: type[M]) -> M:
        """The message that `data` is, which must be of one of the `expected` classes. Raises WireError."""
        message = self._dataclass(data, {c.__name__ for c in expected})
        return typing.cast(M, message)

    def _dataclass(self, data: object, names: set[str]) -> object:
        if not isinstance(data, dict):
            raise WireError("not an object")
        name = data.get("t")
        if not isinstance(name, str) or name not in names:
            raise WireError(f"unexpected message {name!r}"[:80])
        hints = self._fields[name]
        if set(data) != {"t", *hints}:
            raise WireError(f"{name} has other fields than it should")
        values = {field: self._checked(data[field], hint) for field, hint in hints.items()}
        return self._classes[name](**values)

    def _checked(self, value: object, hint: object) -> object:
        """`value` as `hint` says, or WireError."""
        origin = typing.get_origin(hint)
        arguments = typing.get_args(hint)
        if origin is tuple:
            if not isinstance(value, list) or len(value) > MAX_ITEMS:
                raise WireError("not a list of reasonable length")
            return tuple(self._checked(v, arguments[0]) for v in value)
        if origin is dict:
            if not isinstance(value, dict) or len(value) > MAX_ITEMS:
                raise WireError("not an object of reasonable size")
            return {self._checked(k, str): self._checked(v, arguments[1]) for k, v in value.items()}
        if origin is types.UnionType:
            return self._one_of(value, arguments)
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            return self._dataclass(value, {hint.__name__})
        return _primitive(value, hint)

    def _one_of(self, value: object, choices: tuple[object, ...]) -> object:
        for choice in choices:
            try:
                return self._checked(value, choice)
            except WireError:
                continue
        raise WireError("fits none of the allowed types")


def _primitive(value: object, hint: object) -> object:
    if hint is type(None) and value is None:
        return None
    if hint is float and type(value) is float and math.isfinite(value):
        return value
    if hint is bool and type(value) is bool:
        return value
    if hint is int and type(value) is int and -(1 << 63) <= value < 1 << 64:
        return value
    if hint is str and isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    raise WireError(f"expected {getattr(hint, '__name__', hint)}, got {type(value).__name__}")


MESSAGES = (
    *(Slot, Scalar, Located, State),
    *(Load, Construct, SetState, Draw, Bind, Unbind, Discard, Trace, Serve),
    *(Failed, Done, Constructed, Matched, Drawn, Traced, Outcome),
)
"""All of the above."""
_SCHEMA = Schema(*MESSAGES)


def decode(data: object, *expected: type[M]) -> M:
    """The message between judge and runner that `data` is, of one of the `expected` classes. Raises WireError."""
    return _SCHEMA.decode(data, *expected)
