"""Equal things have equal names, different things different ones."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.canonical import canonical_json, digest, plain, rebuilt

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Part:
    sizes: tuple[int, ...]
    colour: Colour = Colour.RED
    notes: Mapping[str, object] = field(default_factory=dict)


@given(JSON)
def test_json_is_its_own_plain_form_and_survives_its_text(value: object) -> None:
    assert plain(value) == value
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2, max_size=6))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_json(value) == canonical_json(backwards)
    assert digest(value) == digest(backwards)


def test_dataclasses_enums_and_tuples_become_plain_data() -> None:
    part = Part((1, 2), notes={"deep": (Colour.RED, {"x": Part(())})})
    inner = {"sizes": [], "colour": "red", "notes": {}}
    assert plain(part) == {"sizes": [1, 2], "colour": "red", "notes": {"deep": ["red", {"x": inner}]}}
    assert digest(part) != digest(Part((2, 1)))


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    named: Mapping[Colour, float]
    maybe: Part | None = None


def test_what_differs_only_in_nesting_differs_in_name() -> None:
    assert len({digest(v) for v in (["ab"], ["a", "b"], [["a"], "b"], {"a": "b"}, "ab", None, 0, False)}) == 8


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), Part, {"a": [1j]}])
def test_what_json_does_not_know_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_json(value)


def test_what_was_made_plain_can_be_rebuilt() -> None:
    whole = Whole((Part((1, 2), notes={"a": [1, None]}),), {Colour.RED: 2}, Part(()))
    assert rebuilt(Whole, json.loads(canonical_json(whole))) == whole
    assert rebuilt(Whole, {"parts": [], "named": {}, "maybe": None}) == Whole((), {})


@pytest.mark.parametrize(
    "data",
    [
        {"parts": [], "named": {}},
        {"parts": [], "named": {}, "maybe": None, "more": 1},
        {"parts": {}, "named": {}, "maybe": None},
        {"parts": [{"sizes": [True], "colour": "red", "notes": {}}], "named": {}, "maybe": None},
        {"parts": [], "named": {"red": "2"}, "maybe": None},
        {"parts": [], "named": {"blue": 2}, "maybe": None},
        {"parts": [], "named": [], "maybe": None},
        {"parts": [], "named": {}, "maybe": 0},
        None,
    ],
)
def test_another_form_cannot_be_rebuilt(data: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        rebuilt(Whole, data)
