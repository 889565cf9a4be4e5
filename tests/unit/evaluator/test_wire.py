"""The wire schema: every message comes back as it was sent, and nothing else is taken for one."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.harness import wire
from evaluator.harness.wire import WireError, decode, encode

integers = st.integers(-(1 << 63), (1 << 64) - 1)
texts = st.text(max_size=20)
tuples_of_ints = st.lists(integers, max_size=4).map(tuple)
slots = st.builds(wire.Slot, integers, tuples_of_ints, tuples_of_ints, texts)
finite = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.builds(wire.Scalar, st.sampled_from(["int", "float", "bool"]), st.booleans() | integers | finite)
located = st.builds(wire.Located, integers, tuples_of_ints, tuples_of_ints, texts, st.booleans())
names = st.lists(texts, max_size=3).map(tuple)
files = st.dictionaries(texts, texts, max_size=3)
states = st.builds(wire.State, texts, located, st.booleans())


def several(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=3).map(tuple)


MESSAGES: dict[type, st.SearchStrategy[Any]] = {
    wire.Load: st.builds(
        wire.Load, files, texts, texts, texts, st.booleans(), integers, integers, integers, integers
    ),
    wire.Construct: st.builds(wire.Construct, texts, st.none() | texts, integers),
    wire.SetState: st.builds(wire.SetState, texts, integers, names, several(slots)),
    wire.Draw: st.builds(wire.Draw, integers),
    wire.Bind: st.builds(
        wire.Bind, integers, texts, texts, integers, several(slots | scalars), several(slots)
    ),
    wire.Unbind: st.builds(wire.Unbind, integers),
    wire.Discard: st.builds(wire.Discard, texts),
    wire.Trace: st.builds(wire.Trace, integers),
    wire.Serve: st.just(wire.Serve()),
    wire.Failed: st.builds(wire.Failed, texts, texts),
    wire.Done: st.builds(wire.Done, names, texts),
    wire.Constructed: st.builds(wire.Constructed, several(states), texts),
    wire.Matched: st.builds(wire.Matched, names),
    wire.Drawn: st.builds(wire.Drawn, several(located | scalars)),
    wire.Traced: st.builds(wire.Traced, texts),
    wire.Outcome: st.builds(wire.Outcome, several(located)),
}
CLASSES = tuple(MESSAGES)
messages = st.one_of(*MESSAGES.values())
GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.just("t"), inner, max_size=4)
        | st.fixed_dictionaries({"t": st.sampled_from([c.__name__ for c in CLASSES]), "state": inner})
    ),
    max_leaves=10,
)


def test_every_message_class_is_tested_here() -> None:
    own = {c for c in vars(wire).values() if dataclasses.is_dataclass(c)}
    assert own == {*CLASSES, wire.Slot, wire.Scalar, wire.Located, wire.State}


@given(messages)
def test_a_message_survives_the_wire(message: object) -> None:
    assert decode(json.loads(json.dumps(encode(message))), *CLASSES) == message


@given(GARBAGE)
def test_garbage_raises_nothing_but_a_wire_error(data: object) -> None:
    try:
        message: object = decode(data, *CLASSES)
    except WireError:
        return
    assert encode(message) == data


@given(messages, st.data())
def test_a_message_with_one_field_spoiled_is_refused_or_equals_what_it_says(
    message: Any, data: st.DataObject
) -> None:
    plain = encode(message)
    field = data.draw(st.sampled_from(sorted(plain)))
    spoiled = plain | {field: data.draw(GARBAGE)}
    try:
        assert encode(decode(spoiled, *CLASSES)) == spoiled
    except WireError:
        return


@given(messages, st.text(min_size=1, max_size=3))
def test_a_missing_or_surplus_field_is_refused(message: object, name: str) -> None:
    plain = encode(message)
    if name not in plain:
        with pytest.raises(WireError):
            decode(plain | {name: 1}, *CLASSES)
    for field in plain:
        with pytest.raises(WireError):
            decode({k: v for k, v in plain.items() if k != field}, *CLASSES)


def test_only_the_expected_messages_are_taken() -> None:
    with pytest.raises(WireError, match="unexpected message 'Load'"):
        decode({"t": "Load"}, wire.Done)
    with pytest.raises(WireError):
        decode(encode(wire.Unbind(1)), wire.Trace)
    with pytest.raises(WireError):
        decode(encode(wire.Slot(0, (), (), "float32")), *CLASSES)


def test_a_bool_is_no_integer_and_an_integer_no_float() -> None:
    for number in (True, 1.0, "1", 1 << 64, -(1 << 63) - 1):
        with pytest.raises(WireError):
            decode({"t": "Draw", "seed": number}, wire.Draw)
    kept = decode({"t": "Drawn", "values": [encode(wire.Scalar("bool", True))]}, wire.Drawn)
    assert kept.values == (wire.Scalar("bool", True),)
    assert type(kept.values[0].value) is bool


def test_a_number_is_finite() -> None:
    for number in (json.loads("1e999"), float("nan")):
        with pytest.raises(WireError):
            decode({"t": "Scalar", "kind": "float", "value": number}, wire.Scalar)


def test_sizes_are_bounded() -> None:
    with pytest.raises(WireError):
        decode({"t": "Traced", "graph": "x" * (wire.MAX_TEXT + 1)}, wire.Traced)
    with pytest.raises(WireError):
        decode({"t": "Matched", "names": ["x"] * (wire.MAX_ITEMS + 1)}, wire.Matched)
    with pytest.raises(WireError, match="unexpected message") as refused:
        decode({"t": "x" * 10_000}, wire.Matched)
    assert len(str(refused.value)) <= 80
